import { insteadOf, isAlreadyExists, isConflict } from "../client/errors.ts";
import { leaseKind } from "../client/kinds.ts";
import type { KubeClient } from "../client/kube-client.ts";
import { type KubeObject, type ObjectRef, resourceType } from "../client/objects.ts";

/** The candidates' shared record (`coordination.k8s.io/v1`). An empty holder means released. */
export interface LeaseRecord {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseRecord;
}

export const leases = resourceType<Lease>(leaseKind);

/** Kubernetes' MicroTime: exactly six fraction digits, or the API server answers 400 (client-node issue 828). */
export function microTime(time: Date): string {
  return time.toISOString().replace(/\.(\d{3})Z$/, ".$1000Z");
}

/** Creates the lease or writes it over the version read; false when another candidate was faster. */
export async function writeLease(
  client: KubeClient,
  target: { readonly ref: ObjectRef; readonly read: Lease | undefined },
  record: LeaseRecord,
  signal: AbortSignal,
): Promise<boolean> {
  const { ref, read } = target;
  const writing =
    read === undefined
      ? client.create(leases, { metadata: ref, spec: record }, { signal })
      : client.replace(leases, { ...read, spec: record }, { signal });
  const isLost = (error: unknown) => isConflict(error) || isAlreadyExists(error);
  return writing.then(() => true).catch(insteadOf(isLost, false));
}

/** Lets the next candidate begin at once, unless another holds the lease already. */
export async function releaseLease(
  client: KubeClient,
  holding: { readonly ref: ObjectRef; readonly identity: string; readonly at: Date },
  signal: AbortSignal,
): Promise<void> {
  const { ref, identity, at } = holding;
  const read = await client.find(leases, ref, { signal });
  if (read?.spec?.holderIdentity !== identity) return;
  const record = { ...read.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime(at) };
  await writeLease(client, { ref, read }, record, signal);
}
