import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { ENVIRONMENT_UID_LABEL } from "../../../crds/group.ts";
import { isPending } from "../../../crds/webhooks/webhook-delivery.ts";
import { applicationKind, appProjectKind } from "../../../operator/adapters/argocd/kinds.ts";
import { environmentType, webhookDeliveryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { namespaceKind, secretKind } from "../../../operator/kit/client/kinds.ts";
import { until } from "../../support/fixtures/until.ts";
import type { Left } from "./ledger.ts";
import { namesOf, type Site } from "./site.ts";
import { visit } from "./visit.ts";

/** Differences between the cluster and the ledger, as sentences. */
export interface Differences {
  readonly unlike: readonly string[];
  readonly remains: readonly string[];
  readonly pending: readonly string[];
  readonly silent: readonly string[];
}

/** Time for the last deeds, and for what the last disturbance has delayed. */
const SETTLED_MS = 240_000;

/**
 * Waits until everything is as people left it, and answers what is not.
 *
 * @throws the last error where the cluster never answers
 */
export async function differencesOf(site: Site): Promise<Differences> {
  let found: Found = {};
  const isSettled = async () => {
    const looked: Found = await compared(site).then(
      (differences) => ({ differences }),
      (error: unknown) => ({ error }),
    );
    found = { ...found, ...looked };
    return Object.values(looked.differences ?? { none: ["no answer"] }).every(({ length }) => length === 0);
  };
  await until(isSettled, { deadlineMs: SETTLED_MS, everyMs: 1_000 }).catch(() => undefined);
  if (found.differences === undefined) throw found.error;
  return { ...found.differences, silent: await silentOf(site) };
}

interface Found {
  readonly differences?: Omit<Differences, "silent">;
  readonly error?: unknown;
}

/** Addresses that do not answer as the application does: what sleeps has to wake. */
async function silentOf({ ledger }: Site): Promise<readonly string[]> {
  const open = [...ledger.environments].filter(([, left]) => left !== undefined && !left.isSuspended);
  const visits = open.map(([name]) =>
    visit(name).then(
      (status) => (status === 200 ? [] : [`${name} answers ${status}`]),
      (error: unknown) => [`${name}: ${error}`],
    ),
  );
  return (await Promise.all(visits)).flat();
}

async function compared(site: Site): Promise<Omit<Differences, "silent">> {
  const { admin, ledger, repository } = site;
  const unlike: string[] = [];
  for (const [name, left] of ledger.environments) {
    const problem = problemOf(await admin.find(environmentType, { name }), left);
    if (problem !== undefined) unlike.push(`${name} ${problem}`);
  }
  const unknown = (await namesOf(admin, repository)).filter((name) => !ledger.environments.has(name));
  unlike.push(...unknown.map((name) => `${name} was made by no deed`));
  const { items: deliveries } = await admin.list(webhookDeliveryType, { namespace: "ephemeral-system" });
  const pending = deliveries.filter(isPending).map(({ metadata }) => `webhook ${metadata.name} has no outcome`);
  return { unlike, remains: await remainsOf(site), pending };
}

/** Difference to what its owner left; `undefined` without any. */
function problemOf(environment: EphemeralEnvironment | undefined, left: Left | undefined): string | undefined {
  if (left === undefined) return environment === undefined ? undefined : "is there, and was deleted";
  if (environment === undefined) return "is lost";
  const { spec, status } = environment;
  if (left.ttlHours !== undefined && spec.ttlHours !== left.ttlHours) return `lives for ${spec.ttlHours} hours`;
  if ((spec.suspended ?? false) !== left.isSuspended) return `has suspended: ${spec.suspended}`;
  if (status?.phase !== "ready") return `is ${status?.phase}: ${JSON.stringify(status?.conditions)}`;
  const running = status.components?.backend?.commit;
  return running === left.commit ? undefined : `runs ${running} in place of ${left.commit}`;
}

/** Objects of environments that are no more. */
async function remainsOf({ admin }: Site): Promise<readonly string[]> {
  const { items } = await admin.list(environmentType);
  const uids = new Set(items.map(({ metadata }) => metadata.uid));
  const kinds = [namespaceKind, applicationKind, appProjectKind, secretKind];
  const found = await Promise.all(
    kinds.map(async (kind) => {
      const { items: objects } = await admin.list(kind, { labelSelector: ENVIRONMENT_UID_LABEL });
      return objects
        .filter(({ metadata }) => !uids.has(metadata.labels?.[ENVIRONMENT_UID_LABEL] ?? ""))
        .map(({ metadata }) => `${kind.kind} ${metadata.namespace ?? ""}/${metadata.name}`);
    }),
  );
  return found.flat();
}
