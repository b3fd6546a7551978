/** Id and name of a Repository on its host, from its verified webhooks. */
import { type Condition, findCondition, transition, withCondition } from "../../../crds/conditions.ts";
import { present } from "../../../crds/present.ts";
import type { HostRepository, KnownHostRepository } from "../../../crds/repository/host-repository.schema.ts";
import { fullNameOf, hostIdOf, type Repository, type RepositoryStatus } from "../../../crds/repository/repository.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import { equalJson } from "../../kit/equal-json.ts";

const NAME_CURRENT = "NameCurrent";

/** True when a delivery has a new identity of the Repository. */
export function hasNewIdentity({ spec, status }: Repository, { spec: delivery }: WebhookDelivery): boolean {
  const { hostRepository, host, verified } = delivery;
  const isOurs = verified && host !== undefined && host === spec.host;
  return isOurs && hostRepository !== undefined && !equalJson({ ...hostRepository, host }, status?.hostRepository);
}

/**
 * Status with the identity from the Repository's verified deliveries; `undefined` when unchanged. The first one gives
 * the id, for good, and the newest one of that id the name.
 */
export function identified(
  repository: Repository,
  deliveries: readonly WebhookDelivery[],
  now: Date,
): RepositoryStatus | undefined {
  const { metadata, status } = repository;
  const own = deliveries.filter((one) => isOf(repository, one)).toSorted((one, other) => saidMs(one) - saidMs(other));
  const id = hostIdOf(repository) ?? own[0]?.spec.hostRepository?.id;
  const newest = own.findLast(({ spec: { hostRepository } }) => hostRepository?.id === id);
  const { hostRepository: named, host } = newest?.spec ?? {};
  const hostRepository = named === undefined ? knownIdentity(repository) : { ...named, ...present({ host }) };
  const draft = hostRepository && nameCondition(repository, hostRepository);
  const former = findCondition(status?.conditions, NAME_CURRENT);
  const condition = draft && transition(former, { ...draft, observedGeneration: metadata.generation }, now);
  if (equalJson(hostRepository, status?.hostRepository) && equalJson(condition, former)) return undefined;
  const { hostRepository: _, ...rest } = status ?? {};
  return { ...rest, ...(hostRepository && { hostRepository }), conditions: conditionsOf(status, condition) };
}

/** Time of what a delivery says: a host may repeat one that has the former name. */
function saidMs({ spec: { receivedAt, event } }: WebhookDelivery): number {
  const { pullRequest, pipeline } = event;
  const receivedMs = Date.parse(receivedAt);
  return Math.min(receivedMs, Date.parse(pullRequest?.updatedAt ?? pipeline?.at ?? receivedAt));
}

/** True for a verified delivery of this Repository, not of a predecessor with its name. */
function isOf({ metadata, spec }: Repository, { spec: delivery }: WebhookDelivery): boolean {
  const isOwn = delivery.repositories?.includes(metadata.name) === true && delivery.hostRepository !== undefined;
  if (!isOwn || !delivery.verified || spec.host === undefined || delivery.host !== spec.host) return false;
  return Date.parse(delivery.receivedAt) >= Date.parse(metadata.creationTimestamp);
}

/** Stored identity, unless the Repository now names another id or host. */
function knownIdentity({ spec, status }: Repository): KnownHostRepository | undefined {
  if (status?.hostRepository === undefined || spec.host === undefined) return undefined;
  const identity = { ...status.hostRepository, host: status.hostRepository.host ?? spec.host };
  const isOther = identity.host !== spec.host || (spec.hostId !== undefined && spec.hostId !== identity.id);
  return isOther ? undefined : identity;
}

function conditionsOf(status: RepositoryStatus | undefined, condition: Condition | undefined): Condition[] {
  if (condition !== undefined) return withCondition(status?.conditions, condition);
  return (status?.conditions ?? []).filter(({ type }) => type !== NAME_CURRENT);
}

function nameCondition(repository: Repository, { fullName }: HostRepository) {
  const isCurrent = fullName.toLowerCase() === fullNameOf(repository).toLowerCase();
  if (isCurrent) return { type: NAME_CURRENT, status: "True", reason: "AsRegistered", message: "" } as const;
  const message = `the host calls it ${fullName}: correct spec.fullName and spec.cloneUrl`;
  return { type: NAME_CURRENT, status: "False", reason: "Renamed", message } as const;
}
