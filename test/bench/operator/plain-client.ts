import { setTimeout as pause } from "node:timers/promises";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { FINALIZER } from "../../../crds/group.ts";
import { applicationKind, appProjectKind } from "../../../operator/adapters/argocd/kinds.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { isForbidden } from "../../../operator/kit/client/errors.ts";
import {
  limitRangeKind,
  namespaceKind,
  networkPolicyKind,
  resourceQuotaKind,
  roleBindingKind,
  secretKind,
  serviceAccountKind,
  type WireObject,
} from "../../../operator/kit/client/kinds.ts";
import type { ResourceType } from "../../../operator/kit/client/objects.ts";
import type { BenchWorld } from "./bench-world.ts";
import { observeStates } from "./observed-states.ts";

/**
 * A straightforward script in the operator's place: it writes copies of the operator's objects of one environment, one after
 * the other, the finalizer first and the status last, when the application is healthy. It checks and repairs nothing, and
 * repeats nothing.
 */
export interface PlainClient {
  /** Completes a new environment. */
  bringUp(environment: EphemeralEnvironment): Promise<void>;
  stop(): Promise<void>;
}

/** Ordered so that the right to write Secrets there is effective in time. */
const KINDS: readonly ResourceType<WireObject>[] = [
  namespaceKind,
  roleBindingKind,
  resourceQuotaKind,
  limitRangeKind,
  networkPolicyKind,
  serviceAccountKind,
  appProjectKind,
  secretKind,
  applicationKind,
];

/** @param pattern a ready environment of the operator */
export async function createPlainClient(bench: BenchWorld, pattern: EphemeralEnvironment): Promise<PlainClient> {
  const copies = await patternsOf(bench, pattern);
  const isReached = ({ status }: WireObject) =>
    (status as { health?: { status?: string } } | undefined)?.health?.status === "Healthy";
  const healthy = await observeStates({ client: bench.world.admin, type: applicationKind, isReached });
  return {
    async bringUp(environment) {
      const { name, uid } = environment.metadata;
      const copied = <T>(value: T) => copyFor(environment, pattern, value);
      const held = [{ op: "add", path: "/metadata/finalizers", value: [FINALIZER] }];
      await bench.asPlatform.patch(environmentType, { name }, held, { as: "json" });
      for (const { type, object } of copies) await writePatiently(bench, type, copied(object));
      await healthy.reached(`env-${name}`);
      const status = [
        { op: "test", path: "/metadata/uid", value: uid },
        { op: "add", path: "/status", value: copied(pattern.status) },
      ];
      await bench.asPlatform.patch(environmentType, { name }, status, { as: "json", subresource: "status" });
    },
    stop: () => healthy.stop(),
  };
}

interface Sent {
  readonly metadata: { readonly name: string };
}

interface Copy {
  readonly type: ResourceType<WireObject>;
  readonly object: Sent;
}

async function patternsOf(bench: BenchWorld, pattern: EphemeralEnvironment): Promise<readonly Copy[]> {
  const objects = [...(await bench.world.inventory(pattern)).values()];
  return KINDS.flatMap((type) =>
    objects.filter(({ kind }) => kind === type.kind).map((object) => ({ type, object: withoutHistory(object) })),
  );
}

/** The object without additions of the API server and the deployer. */
function withoutHistory({ metadata, status: _, ...fields }: WireObject): Sent {
  const { name, namespace, labels, annotations, finalizers } = metadata;
  const sent = Object.entries({ namespace, labels, annotations, finalizers }).filter(([, value]) => value);
  return { ...fields, metadata: { name, ...Object.fromEntries(sent) } };
}

/** Replaces the pattern's name and UID in names, labels and texts; its name must not be part of any other word. */
function copyFor<T>({ metadata }: EphemeralEnvironment, pattern: EphemeralEnvironment, value: T): T {
  const text = JSON.stringify(value)
    .replaceAll(pattern.metadata.uid, metadata.uid)
    .replaceAll(pattern.metadata.uid.slice(0, 8), metadata.uid.slice(0, 8))
    .replaceAll(pattern.metadata.name, metadata.name);
  return JSON.parse(text);
}

/** A new right takes the API server a moment. */
async function writePatiently({ asPlatform }: BenchWorld, type: ResourceType<WireObject>, object: Sent): Promise<void> {
  // Kubernetes creates this one, too.
  const isAdopted = type === serviceAccountKind;
  for (let refusals = 0; ; refusals += 1) {
    try {
      if (isAdopted) await asPlatform.patch(type, object.metadata, object, { as: "apply" });
      else await asPlatform.create(type, object as never);
      return;
    } catch (error) {
      if (!isForbidden(error) || refusals >= 100) throw error;
      await pause(20);
    }
  }
}
