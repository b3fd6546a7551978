import type { EphemeralEnvironment } from "../crds/ephemeral-environment.ts";
import { ENVIRONMENT_UID_LABEL, type Kind } from "../crds/group.ts";
import type { Repository } from "../crds/repository.ts";
import { applicationKind, appProjectKind } from "./adapters/argocd-deployer.ts";
import type { WatchedKinds, WireObject } from "./adapters/kubernetes-cluster.ts";
import { BY_UID, environmentType } from "./adapters/kubernetes-environments.ts";
import { repositoryType } from "./adapters/kubernetes-repositories.ts";
import {
  limitRangeKind,
  namespaceKind,
  networkPolicyKind,
  resourceQuotaKind,
  roleBindingKind,
} from "./environment/kinds.ts";
import type { Clock } from "./kit/clock.ts";
import type { KubeClient } from "./kit/kube-client.ts";
import type { KubeObject, ResourceType } from "./kit/kube-object.ts";
import type { Log } from "./kit/log.ts";
import { createObjectCache, type ObjectCache } from "./kit/object-cache.ts";
import { createReflector, type Reflector } from "./kit/reflector.ts";

/** Name of the environments' index by the Repositories they use. */
export const BY_REPOSITORY = "repository";

/** Everything this process watches, kept up to date by one reflector each. */
export interface Caches {
  readonly environments: ObjectCache<EphemeralEnvironment>;
  readonly repositories: ObjectCache<Repository>;
  /** What belongs to environments, by plural. */
  readonly children: WatchedKinds;
  start(): void;
  /** Resolves when every cache has its first complete list. */
  whenSynced(signal: AbortSignal): Promise<void>;
  readonly synced: boolean;
  readonly size: number;
  stop(): Promise<void>;
}

interface Context {
  readonly client: KubeClient;
  /** The platform's own namespace, where Repositories live. */
  readonly namespace: string;
  readonly deployerNamespace: string;
  readonly log: Log;
  readonly clock: Clock;
}

const CHILD_KINDS: readonly Kind[] = [
  namespaceKind,
  resourceQuotaKind,
  limitRangeKind,
  networkPolicyKind,
  roleBindingKind,
];
const DEPLOYER_KINDS: readonly Kind[] = [applicationKind, appProjectKind];

export function createCaches(context: Context): Caches {
  const watches: { cache: ObjectCache<never>; reflector: Reflector }[] = [];
  const watch = <T extends KubeObject>(
    type: ResourceType<T>,
    cache: Parameters<typeof createReflector<T>>[0]["cache"],
    where: object = {},
  ) => {
    const log = context.log.with({ watch: type.plural });
    watches.push({
      cache: cache as never,
      reflector: createReflector({ ...context, namespace: undefined as never, ...where, type, cache, log }),
    });
    return cache;
  };
  const environments = watch(
    environmentType,
    createObjectCache({ indexes: { [BY_UID]: uidOf, [BY_REPOSITORY]: repositoriesOf } }),
  );
  const repositories = watch(repositoryType, createObjectCache<Repository>(), { namespace: context.namespace });
  const child = (where: object) => (kind: Kind) =>
    [
      kind.plural,
      watch(kind as ResourceType<WireObject>, createObjectCache<WireObject>({ transform: withoutBulk }), {
        labelSelector: ENVIRONMENT_UID_LABEL,
        ...where,
      }),
    ] as const;
  const children = new Map([
    ...CHILD_KINDS.map(child({})),
    ...DEPLOYER_KINDS.map(child({ namespace: context.deployerNamespace })),
  ]);
  return {
    environments,
    repositories,
    children,
    start: () => watches.forEach(({ reflector }) => void reflector.start()),
    whenSynced: async (signal) => void (await Promise.all(watches.map(({ cache }) => cache.whenSynced(signal)))),
    get synced() {
      return watches.every(({ cache }) => cache.synced);
    },
    get size() {
      return watches.reduce((sum, { cache }) => sum + cache.size, 0);
    },
    stop: async () => void (await Promise.all(watches.map(({ reflector }) => reflector.stop()))),
  };
}

const uidOf = ({ metadata }: EphemeralEnvironment) => [metadata.uid];

const repositoriesOf = ({ spec }: EphemeralEnvironment) =>
  [spec.backend.repository, spec.frontend?.repository].filter((name) => name !== undefined);

/** Keeps what is compared or judged: an Application's history, resources and timestamps are most of its bytes and change all the time. */
function withoutBulk(object: WireObject): WireObject {
  const { managedFields: _, ...metadata } = object.metadata;
  const status = object.status as { [field: string]: unknown } | undefined;
  if (object.kind !== applicationKind.kind || status === undefined) return { ...object, metadata };
  const { sync, health, conditions, operationState } = status as {
    [field: string]: { [field: string]: unknown } | undefined;
  };
  const judged = {
    sync: {
      status: sync?.status,
      revision: sync?.revision,
      comparedTo: { source: (sync?.comparedTo as { source?: unknown } | undefined)?.source },
    },
    health: { status: health?.status },
    conditions,
    operationState: { phase: operationState?.phase, message: operationState?.message },
  };
  return { ...object, metadata, status: judged, operation: undefined };
}
