import { leases, microTime } from "../../operator/kit/leader/leader-election.ts";
import type { World } from "../support/worlds/environment-world.ts";

/** Holds the lease for another process: the platform serves, and reconciles nothing. */
export async function leadElsewhere({ admin }: World): Promise<void> {
  await admin.create(leases, {
    metadata: { name: "platform", namespace: "ephemeral-system" },
    spec: {
      holderIdentity: "the benchmark",
      leaseDurationSeconds: 86400,
      leaseTransitions: 0,
      acquireTime: microTime(new Date()),
      renewTime: microTime(new Date()),
    },
  });
}
