/** Ends an application that its deployer does not end in time, and empties its namespace. */
import type { Settings } from "../../../../config/settings.ts";
import type { FinalizerRemoval } from "../../../../crds/environment/environment-status.schema.ts";
import { GROUP, PODS_ENDED_ANNOTATION } from "../../../../crds/group.ts";
import { namespaceName } from "../../../../crds/names.ts";
import { insteadOf, isForbidden, KubeError } from "../../../kit/client/errors.ts";
import { namespaceKind, resourceQuotaKind, roleBindingKind } from "../../../kit/client/kinds.ts";
import type { Log } from "../../../kit/log.ts";
import {
  BeingDeleted,
  type Blocker,
  type Cluster,
  NameTaken,
  type Owner,
  type Removal,
} from "../../../ports/cluster.ts";
import type { Deployer } from "../../../ports/deployer.ts";
import type { Content, NamespaceContents } from "../../../ports/namespace-contents.ts";
import { ENVIRONMENT_QUOTA } from "../desired/isolation.ts";
import { refIn } from "../desired/namespace.ts";
import { ACCESS_BINDING, accessBindingObject } from "../desired/secret.ts";

/** The settings and ports of a takeover. */
export interface TakeOverDependencies {
  readonly settings: Settings;
  readonly log: Log;
  readonly cluster: Cluster;
  readonly namespaceContents: NamespaceContents;
  readonly deployer: Deployer;
}

/**
 * Finalizer on the RoleBinding with the platform's rights: the namespace controller deletes everything at once, and
 * removing other finalizers needs the binding.
 */
const RIGHTS_FINALIZER = `${GROUP}/teardown`;

/** Grace below Kubernetes' default of 30: with the deployer's time, no tenant's process runs after 90 seconds. */
const GRACE_SECONDS = 25;
const NAMES_RECORDED = 20;
const ENTRIES_RECORDED = 50;

/** Keeps the platform's rights in the namespace and removes the application, whatever holds it; what it made goes with the namespace. */
export async function takeOverApplication(environment: Owner, context: TakeOverDependencies): Promise<Removal> {
  await keepRights(environment, context);
  const { name, uid } = environment;
  context.log.warn("the platform took over a deletion", { environment: name, uid });
  return context.deployer.abandon(environment);
}

async function keepRights(environment: Owner, { cluster, settings }: TakeOverDependencies): Promise<void> {
  const binding = accessBindingObject({ metadata: environment }, settings, [RIGHTS_FINALIZER]);
  await cluster.ensure(environment, roleBindingKind, binding).catch(insteadOf(isOutOfReach, "no rights"));
}

/** The namespace is gone or terminating: it goes without us. */
const isOutOfReach = (error: unknown) => error instanceof BeingDeleted || error instanceof NameTaken;

/**
 * Before the deletion of an active namespace, keeps the platform's rights in it when foreign finalizers hold objects left by the
 * deployer, such as a StatefulSet's claims. All kinds are listed only when the quota counts any object; held objects of
 * uncounted kinds are named and not released.
 */
export async function keepRightsWhereHeld(environment: Owner, context: TakeOverDependencies): Promise<void> {
  const { cluster, namespaceContents } = context;
  if (keepsRights(environment, context)) return;
  const refTo = (name: string) => refIn({ metadata: environment }, name);
  if (cluster.observe(environment, roleBindingKind, refTo(ACCESS_BINDING)) === undefined) return;
  const quota = await cluster.read(environment, resourceQuotaKind, refTo(ENVIRONMENT_QUOTA));
  if (quota === undefined || !countsLeftovers(quota.status)) return;
  const found = await namespaceContents.list(environment).catch(insteadOf(isForbidden, NOTHING));
  if (!found.isComplete || heldContents(found.contents, []).length > 0) await keepRights(environment, context);
}

/** True while the namespace exists and is not being deleted, by this process's cache. */
export function isActive(environment: Owner, context: Pick<TakeOverDependencies, "cluster">): boolean {
  const namespace = observedNamespace(environment, context);
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
}

const observedNamespace = (environment: Owner, { cluster }: Pick<TakeOverDependencies, "cluster">) =>
  cluster.observe(environment, namespaceKind, { name: namespaceName(environment.name) });

/** Answer where the rights are missing: nothing can be kept there. */
const NOTHING = { contents: [], isComplete: true } as const;

/** Counts of Kubernetes' own objects in every namespace: ConfigMap `kube-root-ca.crt`, ServiceAccount `default`. */
const OF_KUBERNETES: Readonly<Record<string, number>> = { "count/configmaps": 1, "count/serviceaccounts": 1 };

/** True when the quota counts more than Kubernetes' own objects, or does not say. */
function countsLeftovers(status: unknown): boolean {
  const { used } = (status ?? {}) as { readonly used?: Readonly<Record<string, string>> };
  if (used === undefined) return true;
  const counts = Object.entries(used).filter(([resource]) => resource.startsWith("count/"));
  return counts.some(([resource, count]) => Number(count) > (OF_KUBERNETES[resource] ?? 0));
}

/** True while the platform keeps its rights in the namespace: it has taken over what the deployer did not end, or has left. */
export function keepsRights(environment: Owner, { cluster }: TakeOverDependencies): boolean {
  const binding = cluster.observe(environment, roleBindingKind, refIn({ metadata: environment }, ACCESS_BINDING));
  return binding?.metadata.finalizers?.includes(RIGHTS_FINALIZER) === true;
}

interface EmptyingLimits {
  /** True when foreign finalizers have had their time. */
  readonly isDue: boolean;
  /** True when an admin forces the step: once it is due or stuck, finalizers that free something outside the cluster go, too. */
  readonly isForced: boolean;
  /** True when the step took so long that a force no longer waits for kinds that can't be listed. */
  readonly isStuck: boolean;
  readonly recorded: readonly FinalizerRemoval[];
}

/** Result of emptying a namespace as far as possible. */
interface Emptied {
  readonly blockers: readonly Blocker[];
  /** Removals that the status must store before the next call makes them, with earlier ones. */
  readonly removals: readonly FinalizerRemoval[];
  /** True when the step ends here by force, whatever is left. */
  readonly isLast: boolean;
  /** True when there is nothing to remove now: what is left is awaited, refused, not listed or not due. */
  readonly isQuiet: boolean;
}

/**
 * Ends the pods of a terminating namespace and, when due, removes foreign finalizers from what is being deleted there.
 * One call names each in `removals`, the next removes it, so that a crash loses no line of the record. The rights are
 * dropped when nothing needs them any more, and at the end of a forced step.
 */
export async function emptyNamespace(
  environment: Owner,
  limits: EmptyingLimits,
  context: TakeOverDependencies,
): Promise<Emptied> {
  const { isDue, isStuck, recorded } = limits;
  const pods = await context.namespaceContents.endPods(environment, GRACE_SECONDS);
  // Kubernetes deletes nothing else before the pods have ended.
  const isEarly = pods > 0 && !(isDue || isStuck);
  if (isEarly) return { blockers: [], removals: recorded, isLast: false, isQuiet: false };
  if (pods === 0) await announcePodsEnded(environment, context);
  return releaseContents(environment, pods === 0, limits, context);
}

async function releaseContents(
  environment: Owner,
  isWithoutPods: boolean,
  limits: EmptyingLimits,
  context: TakeOverDependencies,
): Promise<Emptied> {
  const { recorded } = limits;
  const { contents, isComplete } = await context.namespaceContents.list(environment);
  const isHeld = contents.some(({ finalizers }) => foreignOf(finalizers).length > 0);
  const isForcedEnd = endsByForce(limits, isHeld && isComplete);
  const held = heldContents(contents, isForcedEnd ? [] : context.settings.deletion.awaitedFinalizers);
  const due = limits.isDue || isForcedEnd ? held : [];
  // Until Kubernetes deletes an object, its controller may put the finalizer back. A force does not wait for that.
  const releasable = due.filter(({ content }) => content.isDeleted || isForcedEnd);
  const refusals = await releaseNamed(environment, releasable, recorded, context);
  const removals = withRemovals(recorded, due);
  const isLast = isForcedEnd && removals.length === recorded.length;
  const isEmpty = !isHeld && isWithoutPods && isComplete;
  if (isEmpty || isLast) await dropRights(environment, context);
  const blockers = due.flatMap((one) => blockersOf(one, refusals.get(one.content)));
  const isNext = ({ content, removable }: Held) => removable.length > 0 && !refusals.has(content);
  return { blockers, removals, isLast, isQuiet: !isEmpty && !releasable.some(isNext) };
}

/** True when the step ends by force as soon as the status names every finalizer that goes. */
function endsByForce({ isDue, isForced, isStuck }: EmptyingLimits, isAllKnown: boolean): boolean {
  return isForced && (isStuck || (isDue && isAllKnown));
}

/** Costs only time where it fails: Kubernetes comes back by itself. The cache saves a read in each further pass. */
async function announcePodsEnded(environment: Owner, context: TakeOverDependencies): Promise<void> {
  const { annotations = {} } = observedNamespace(environment, context)?.metadata ?? {};
  if (Object.hasOwn(annotations, PODS_ENDED_ANNOTATION)) return;
  const { namespaceContents, log } = context;
  const { name, uid } = environment;
  await namespaceContents.announcePodsEnded(environment).catch((error: unknown) => {
    if (!(error instanceof KubeError)) throw error;
    log.warn("the namespace was not marked", { environment: name, uid, error: error.message });
  });
}

/** Gives the platform's rights in the namespace back. */
export async function dropRights(
  environment: Owner,
  { cluster }: Pick<TakeOverDependencies, "cluster">,
): Promise<void> {
  const binding = refIn({ metadata: environment }, ACCESS_BINDING);
  await cluster.release(environment, roleBindingKind, binding, [RIGHTS_FINALIZER]);
}

/** Removes the finalizers that the status names, all at once; returns the refusals. An error of one does not affect the others. */
async function releaseNamed(
  environment: Owner,
  objects: readonly Held[],
  recorded: readonly FinalizerRemoval[],
  { namespaceContents, log }: TakeOverDependencies,
) {
  const { name, uid } = environment;
  const refusals = new Map<Content, string>();
  const releaseOne = async ({ content, removable }: Held) => {
    const { kind, name: object } = content;
    const finalizers = removable.filter((finalizer) => isNamed(kind.kind, finalizer, recorded));
    if (finalizers.length === 0) return;
    const refusal = await namespaceContents.release(environment, content, finalizers);
    if (refusal === undefined) {
      log.warn("finalizers were removed", { environment: name, uid, kind: kind.kind, object, finalizers });
    } else refusals.set(content, refusal);
  };
  const results = await Promise.allSettled(objects.map(releaseOne));
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return refusals;
}

/** An object with foreign finalizers. */
interface Held {
  readonly content: Content;
  readonly removable: readonly string[];
  /** Finalizers that free something outside the cluster. */
  readonly awaited: readonly string[];
}

/**
 * Objects with finalizers other than Kubernetes' and ours.
 *
 * @param patterns awaited finalizers; one that ends in `/*` stands for its whole domain
 */
export function heldContents(contents: readonly Content[], patterns: readonly string[]): readonly Held[] {
  return contents.flatMap((content) => {
    const foreign = foreignOf(content.finalizers);
    const isAwaited = (finalizer: string) => patterns.some((pattern) => matches(pattern, finalizer));
    const [awaited, removable] = [foreign.filter(isAwaited), foreign.filter((finalizer) => !isAwaited(finalizer))];
    return foreign.length === 0 ? [] : [{ content, removable, awaited }];
  });
}

const foreignOf = (finalizers: readonly string[]) => finalizers.filter((finalizer) => !OWN.has(finalizer));

const OWN = new Set([
  "foregroundDeletion",
  "orphan",
  "kubernetes.io/pvc-protection",
  "batch.kubernetes.io/job-tracking",
  RIGHTS_FINALIZER,
]);

function matches(pattern: string, finalizer: string): boolean {
  return pattern.endsWith("/*") ? finalizer.startsWith(pattern.slice(0, -1)) : finalizer === pattern;
}

function blockersOf({ content: { kind, name }, removable, awaited }: Held, refusal: string | undefined): Blocker[] {
  const removed =
    refusal === undefined
      ? "a finalizer that the platform removes"
      : `a finalizer whose removal is refused, and tried again: ${refusal}`;
  const waitedFor = "a finalizer that frees something outside the cluster: it is waited for";
  const named = (message: string) => (reason: string) => ({ kind: kind.kind, name, reason, message });
  return [...removable.map(named(removed)), ...awaited.map(named(waitedFor))];
}

/** A full list names no more: the rest is removed all the same. */
function isNamed(kind: string, finalizer: string, recorded: readonly FinalizerRemoval[]): boolean {
  if (recorded.length >= ENTRIES_RECORDED) return true;
  return recorded.some((entry) => entry.kind === kind && entry.finalizer === finalizer);
}

function withRemovals(recorded: readonly FinalizerRemoval[], objects: readonly Held[]): FinalizerRemoval[] {
  const entries = new Map(recorded.map((entry) => [keyOf(entry), entry]));
  const removals = objects.flatMap(({ content: { kind, name }, removable }) =>
    removable.map((finalizer) => ({ kind: kind.kind, name, finalizer })),
  );
  for (const [key, same] of Map.groupBy(removals, keyOf)) {
    const [first] = same;
    if (first === undefined || entries.has(key) || entries.size >= ENTRIES_RECORDED) continue;
    const names = same.map(({ name }) => name).sort();
    const { kind, finalizer } = first;
    entries.set(key, { kind, finalizer, names: names.slice(0, NAMES_RECORDED), objects: names.length });
  }
  return [...entries.values()];
}

const keyOf = ({ kind, finalizer }: Pick<FinalizerRemoval, "kind" | "finalizer">) => `${kind} ${finalizer}`;
