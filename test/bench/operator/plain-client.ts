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
 * Does what a straightforward script would do in the operator's place: writes copies of the objects that the operator made of
 * one environment, one after the other, the environment's finalizer first and its status last, when the
 * application is healthy. It checks nothing, repairs nothing, and does nothing twice.
 */
export interface PlainClient {
  /** Does it all for an environment that was just made. */
  bringUp(environment: EphemeralEnvironment): Promise<void>;
  stop(): Promise<void>;
}

/** In this order, and so that the right to write Secrets there has had time to arrive. */
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

/** @param pattern an environment that the operator has made ready */
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

/** An object as it was sent. */
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

/** As it was sent: without what the API server and the deployer added. */
function withoutHistory({ metadata, status: _, ...fields }: WireObject): Sent {
  const { name, namespace, labels, annotations, finalizers } = metadata;
  const sent = Object.entries({ namespace, labels, annotations, finalizers }).filter(([, value]) => value);
  return { ...fields, metadata: { name, ...Object.fromEntries(sent) } };
}

/** The pattern's name and UID stand in names, labels and texts; its name must be no part of any other word. */
function copyFor<T>({ metadata }: EphemeralEnvironment, pattern: EphemeralEnvironment, value: T): T {
  const text = JSON.stringify(value)
    .replaceAll(pattern.metadata.uid, metadata.uid)
    .replaceAll(pattern.metadata.uid.slice(0, 8), metadata.uid.slice(0, 8))
    .replaceAll(pattern.metadata.name, metadata.name);
  return JSON.parse(text);
}

/** A right that was just given takes the API server a moment to know of. */
async function writePatiently({ asPlatform }: BenchWorld, type: ResourceType<WireObject>, object: Sent): Promise<void> {
  // Kubernetes makes this one, too.
  const isAdopted = type === serviceAccountKind;
  for (let refusals = 0; ; refusals += 1) {
    try {
      if (isAdopted) await asPlatform.patch(type, object.metadata, object, { as: "apply" });
      else await asPlatform.create(type, object as never);
      return;
    } catch (error) {
      if (!isForbidden(error) || refusals >= 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
