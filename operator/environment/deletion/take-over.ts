/** Ends what a chart holds: the deployer is asked for a time, and then the platform removes the application and empties the namespace itself. */
import type { FinalizerRemoval } from "../../../crds/environment/environment-status.schema.ts";
import { GROUP } from "../../../crds/group.ts";
import type { ControllerPorts } from "../../controller-ports.ts";
import { insteadOf } from "../../kit/client/errors.ts";
import { roleBindingKind } from "../../kit/client/kinds.ts";
import { BeingDeleted, type Blocker, NameTaken, type Owner, type Removal } from "../../ports/cluster.ts";
import type { Content } from "../../ports/namespace-contents.ts";
import { refIn } from "../desired/namespace.ts";
import { ACCESS_BINDING, accessBindingObject } from "../desired/secret.ts";

export type TakeOverContext = Pick<ControllerPorts, "cluster" | "deployer" | "namespaceContents" | "settings" | "log">;

/**
 * On the RoleBinding that gives the platform its rights in the namespace: the namespace controller deletes everything at
 * once, and without the binding nobody could take off the finalizers of what is left.
 */
const RIGHTS_FINALIZER = `${GROUP}/teardown`;

/** Less than Kubernetes' default of 30: with the time that the deployer has, nothing of a tenant runs after 90 seconds. */
const GRACE_SECONDS = 25;
/** An entry names so many objects at most. */
const NAMES_RECORDED = 20;
const ENTRIES_RECORDED = 50;

/** Keeps the platform's rights in the namespace and removes the application, whatever holds it; what it made goes with the namespace. */
export async function takeOverApplication(
  environment: Owner,
  { cluster, deployer, settings, log }: TakeOverContext,
): Promise<Removal> {
  const binding = accessBindingObject({ metadata: environment }, settings);
  const held = { ...binding, metadata: { ...binding.metadata, finalizers: [RIGHTS_FINALIZER] } };
  await cluster.ensure(environment, roleBindingKind, held).catch(insteadOf(isOutOfReach, "no rights"));
  const { name, uid } = environment;
  log.warn("the platform took over a deletion", { environment: name, uid });
  return deployer.abandon(environment);
}

/** The namespace is gone, or somebody deletes it already: it goes without us. */
const isOutOfReach = (error: unknown) => error instanceof BeingDeleted || error instanceof NameTaken;

/** Whether the platform has taken over what the deployer did not end. */
export function isTakenOver(environment: Owner, { cluster }: Pick<TakeOverContext, "cluster">): boolean {
  const binding = cluster.observe(environment, roleBindingKind, refIn({ metadata: environment }, ACCESS_BINDING));
  return binding?.metadata.finalizers?.includes(RIGHTS_FINALIZER) === true;
}

/** How far the emptying of a namespace may go now. */
export interface EmptyingLimits {
  /** Whether finalizers of others have had their time. */
  readonly isDue: boolean;
  /** Whether an admin wants those removed, too, that free something outside the cluster. */
  readonly isForced: boolean;
  /** The removals that the status or the record names already. */
  readonly recorded: readonly FinalizerRemoval[];
}

/** What was done in a namespace. */
export interface Emptied {
  /** What is still held, once it is due. */
  readonly blockers: readonly Blocker[];
  /** The removals that the status must name before the next call makes them, with those of before. */
  readonly removals: readonly FinalizerRemoval[];
}

/**
 * Ends the pods of a namespace that is being deleted and, when they are due, takes off the finalizers that the platform knows
 * nothing of. Each is named in `removals` by one call and removed by the next, so that a crash loses no line of the record.
 * The rights are given back when nothing is left that needs them.
 */
export async function emptyNamespace(
  environment: Owner,
  { isDue, isForced, recorded }: EmptyingLimits,
  { cluster, namespaceContents, settings, log }: TakeOverContext,
): Promise<Emptied> {
  await namespaceContents.endPods(environment, GRACE_SECONDS);
  const { awaitedFinalizers } = settings.deletion;
  const isAwaited = (finalizer: string) =>
    !isForced && awaitedFinalizers.some((pattern) => matches(pattern, finalizer));
  const held = (await namespaceContents.list(environment)).flatMap((content) => {
    const foreign = content.finalizers.filter((finalizer) => !OWN.has(finalizer));
    return foreign.length === 0 ? [] : [{ content, foreign }];
  });
  const giveBackRights = () =>
    cluster.release(environment, roleBindingKind, refIn({ metadata: environment }, ACCESS_BINDING), [RIGHTS_FINALIZER]);
  if (held.length === 0) {
    await giveBackRights();
    return { blockers: [], removals: recorded };
  }
  if (!isDue && !isForced) return { blockers: [], removals: recorded };
  const unwanted = held.flatMap(({ content, foreign }) => {
    const finalizers = foreign.filter((finalizer) => !isAwaited(finalizer));
    return finalizers.length === 0 ? [] : [{ content, finalizers }];
  });
  const removals = withRemovals(recorded, unwanted);
  const isNamed = (kind: string, finalizer: string, list: readonly FinalizerRemoval[]) =>
    // A full list names no more: what is beyond it is removed all the same.
    list.length >= ENTRIES_RECORDED || list.some((entry) => entry.kind === kind && entry.finalizer === finalizer);
  for (const { content, finalizers } of unwanted) {
    const { kind, name: object } = content;
    const named = finalizers.filter((finalizer) => isForced || isNamed(kind.kind, finalizer, recorded));
    if (named.length === 0) continue;
    const { name, uid } = environment;
    log.warn("finalizers were removed", { environment: name, uid, kind: kind.kind, object, finalizers: named });
    await namespaceContents.release(environment, content, named);
  }
  // The step ends with this call, whatever is left.
  if (isForced) await giveBackRights();
  const blockers = held.flatMap(({ content, foreign }) =>
    foreign.map((reason) => blocker(content, reason, isAwaited(reason))),
  );
  return { blockers, removals };
}

/** Kubernetes' own, which its controllers take off when their part is done, and ours. */
const OWN = new Set([
  "foregroundDeletion",
  "orphan",
  "kubernetes.io/pvc-protection",
  "batch.kubernetes.io/job-tracking",
  RIGHTS_FINALIZER,
]);

/** A pattern that ends in `/*` stands for all of that domain. */
function matches(pattern: string, finalizer: string): boolean {
  return pattern.endsWith("/*") ? finalizer.startsWith(pattern.slice(0, -1)) : finalizer === pattern;
}

function blocker({ kind, name }: Content, reason: string, isAwaited: boolean): Blocker {
  const message = isAwaited
    ? "a finalizer that frees something outside the cluster: it is waited for"
    : "a finalizer that the platform removes";
  return { kind: kind.kind, name, reason, message };
}

interface Unwanted {
  readonly content: Content;
  readonly finalizers: readonly string[];
}

/** An entry for each kind and finalizer. */
function withRemovals(recorded: readonly FinalizerRemoval[], unwanted: readonly Unwanted[]): FinalizerRemoval[] {
  const entries = new Map(recorded.map((entry) => [keyOf(entry), entry]));
  const found = unwanted.flatMap(({ content: { kind, name }, finalizers }) =>
    finalizers.map((finalizer) => ({ kind: kind.kind, name, finalizer })),
  );
  for (const [key, same] of Map.groupBy(found, keyOf)) {
    const [first] = same;
    if (first === undefined || entries.has(key) || entries.size >= ENTRIES_RECORDED) continue;
    const names = same.map(({ name }) => name).sort();
    const { kind, finalizer } = first;
    entries.set(key, { kind, finalizer, names: names.slice(0, NAMES_RECORDED), objects: names.length });
  }
  return [...entries.values()];
}

const keyOf = ({ kind, finalizer }: Pick<FinalizerRemoval, "kind" | "finalizer">) => `${kind} ${finalizer}`;
