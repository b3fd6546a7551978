import type { Clock } from "../kit/time/clock.ts";
import type { SimulatedWebhook, Simulation } from "../ports/facade/webhook-inbox.ts";
import { isDoable, targetOf } from "./act.ts";
import type { Decided } from "./decision.ts";
import { kindOf, type SenderContext } from "./senders.ts";
import { decideAll, type SettleContext } from "./settle.ts";

interface Context extends Pick<SenderContext, "formats" | "settings">, Pick<SettleContext, "decide" | "world"> {
  readonly clock: Clock;
}

/** What would be done about an event now; nothing is stored, nothing is done, and no host is asked. */
export async function simulate(
  { repository, eventName, payload }: SimulatedWebhook,
  { formats, settings, decide, world, clock }: Context,
): Promise<Simulation> {
  const kind = kindOf(repository, settings) ?? "neutral";
  const { event, reason } = formats[kind].read({ eventName, deliveryId: undefined }, payload, { now: clock.now() });
  if (event.type === "ping" || event.type === "other") {
    const message = reason ?? "no rule speaks of it";
    return { event, decisions: [{ do: "nothing", reason: "NothingToDo", message }], trace: [] };
  }
  const { host = "" } = repository.spec;
  const unasked = { ...world, branchHeads: { headOf: async () => undefined } };
  const decided = await decideAll(
    { event, host, repositories: [repository.metadata.name] },
    { decide, world: unasked },
  );
  return { event, decisions: decided.map(shown), trace: decided.flatMap(({ trace }) => trace) };
}

function shown({ decision }: Decided): Simulation["decisions"][number] {
  const { reason } = decision;
  if (isDoable(decision)) return { do: decision.do, reason, environment: targetOf(decision) };
  if (decision.do === "report") return { do: "report", reason, message: decision.report.description };
  const { environment, message } = decision;
  return { do: decision.do, reason, message, ...(environment && { environment: environment.metadata.name }) };
}
