import type { Clock } from "../kit/time/clock.ts";
import type { SimulatedWebhook, Simulation } from "../ports/facade/webhook-inbox.ts";
import { isDoable, targetOf } from "./act.ts";
import type { Decided } from "./decision.ts";
import { formatOf } from "./formats.ts";
import { decideAll, type ProcessingContext } from "./process.ts";
import type { WebhookSenderDependencies } from "./senders.ts";

interface SimulationDependencies
  extends Pick<WebhookSenderDependencies, "formats" | "settings">,
    Pick<ProcessingContext, "decide" | "world"> {
  readonly clock: Clock;
}

/** Decisions about an event, without storing, acting or asking a host. */
export async function simulate(
  { repository, eventName, payload }: SimulatedWebhook,
  { formats, settings, decide, world, clock }: SimulationDependencies,
): Promise<Simulation> {
  const format = formatOf(repository.spec, { settings, formats });
  const { event, reason } = format.read({ eventName, deliveryId: undefined }, payload, { now: clock.now() });
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
