import type { ApiToken } from "../../crds/api-token.ts";
import { CONFIG_SET_UID_LABEL, type ConfigSet } from "../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { creationMark } from "../../crds/environment/idempotency-record.ts";
import { ENVIRONMENT_UID_LABEL } from "../../crds/group.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import { type ApplicationStatus, keptStatus } from "../adapters/argocd/application-status.ts";
import type { WatchedKinds } from "../adapters/kubernetes/cluster.ts";
import { fieldManagers } from "../audit/field-managers.ts";
import {
  apiTokenType,
  applicationKind,
  appProjectKind,
  configSetType,
  environmentType,
  limitRangeKind,
  namespaceKind,
  networkPolicyKind,
  repositoryType,
  resourceQuotaKind,
  revisionKind,
  roleBindingKind,
  type WireObject,
} from "../kinds.ts";
import { Interner } from "../kit/cache/interner.ts";
import { createObjectCache, type ObjectCache } from "../kit/cache/object-cache.ts";
import {
  createReflector,
  type Reflector,
  type ReflectorOptions,
  type ReflectorStatus,
} from "../kit/cache/reflector.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { KubeObject, ResourceType } from "../kit/client/objects.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";

/** The environments' indexes: by UID, by the Repositories they use, the config set they name, the key they were made with. */
export const BY_UID = "uid";
export const BY_REPOSITORY = "repository";
export const BY_CONFIG_SET = "config set";
export const BY_CREATION_KEY = "creation key";
/** Names of the API tokens' indexes: by the owner's subject, beside that by UID. */
export const BY_OWNER = "owner";

/** Everything this process watches, kept up to date by one reflector each. */
export interface Caches {
  readonly environments: ObjectCache<EphemeralEnvironment>;
  readonly repositories: ObjectCache<Repository>;
  readonly configSets: ObjectCache<ConfigSet>;
  readonly apiTokens: ObjectCache<ApiToken>;
  /** The ControllerRevisions that keep versions of config sets. */
  readonly revisions: ObjectCache<WireObject>;
  /** What belongs to environments, by plural. */
  readonly children: WatchedKinds;
  /** What wrote the spec of an environment, a config set or a Repository last, unless that was this platform. */
  writersOf(object: KubeObject): readonly string[];
  start(): void;
  /** Resolves when every cache has its first complete list. */
  whenSynced(signal: AbortSignal): Promise<void>;
  readonly synced: boolean;
  /** The kinds of which no complete list has come yet, such as `applications.argoproj.io`. */
  readonly missing: readonly string[];
  /** Milliseconds since the watch that was silent longest made any progress; without end before its first page. */
  readonly oldestProgressMs: number;
  /** False when a watch has begun nothing and taken nothing in for so long that it can only hang. */
  readonly alive: boolean;
  stop(): Promise<void>;
}

interface Context {
  readonly client: KubeClient;
  /** The platform's own namespace, where Repositories and config sets live. */
  readonly namespace: string;
  readonly deployerNamespace: string;
  readonly log: Log;
  readonly clock: Clock;
}

/** A watch is opened anew within a minute, and a part of a list comes or fails within one: whatever the API server does. */
const LONGEST_SILENCE_MS = 300_000;

const CHILD_KINDS = [namespaceKind, resourceQuotaKind, limitRangeKind, networkPolicyKind, roleBindingKind];
const DEPLOYER_KINDS = [applicationKind, appProjectKind];

export function createCaches(context: Context): Caches {
  const { client, clock, log } = context;
  const watches: {
    kind: string;
    cache: Pick<ObjectCache<WireObject>, "synced" | "whenSynced">;
    reflector: Reflector;
  }[] = [];
  const watch = <T extends KubeObject>(
    type: ResourceType<T>,
    cache: ReflectorOptions<T>["cache"],
    where: Pick<ReflectorOptions<T>, "namespace" | "labelSelector"> = {},
  ) => {
    const kind = [type.plural, type.group].filter(Boolean).join(".");
    watches.push({ kind, cache, reflector: createReflector({ client, clock, log, type, cache, ...where }) });
    return cache;
  };
  const indexes = {
    [BY_UID]: uidOf,
    [BY_REPOSITORY]: repositoriesOf,
    [BY_CONFIG_SET]: configSetsOf,
    [BY_CREATION_KEY]: creationKeysOf,
  };
  // Environments and what belongs to them come by the ten thousand, and most of what they say they say alike.
  const sharing = new Interner();
  const writers = fieldManagers();
  const transform = writers.noting((environment: EphemeralEnvironment) => sharing.compact(withoutHistory(environment)));
  const environments = watch(environmentType, createObjectCache({ log, clock, indexes, transform }));
  const own = { namespace: context.namespace };
  const ofRepository = writers.noting<Repository>(withoutHistory);
  const repositories = watch(repositoryType, createObjectCache({ log, clock, transform: ofRepository }), own);
  const ofConfigSet = writers.noting(withTimes);
  const configSets = watch(configSetType, createObjectCache({ log, clock, transform: ofConfigSet }), own);
  const ofToken = { [BY_UID]: uidOf, [BY_OWNER]: ({ spec }: ApiToken) => [spec.owner.subject] };
  const apiTokens = watch(apiTokenType, createObjectCache<ApiToken>({ log, clock, indexes: ofToken }), own);
  const revisions = watch(revisionKind, createObjectCache<WireObject>({ log, clock }), {
    ...own,
    labelSelector: CONFIG_SET_UID_LABEL,
  });
  const child = (kind: ResourceType<WireObject>, where: { namespace?: string } = {}) => {
    const cache = createObjectCache<WireObject>({
      log,
      clock,
      transform: (object) => sharing.compact(withoutBulk(object)),
    });
    return [kind.plural, watch(kind, cache, { labelSelector: ENVIRONMENT_UID_LABEL, ...where })] as const;
  };
  const children = new Map([
    ...CHILD_KINDS.map((kind) => child(kind)),
    ...DEPLOYER_KINDS.map((kind) => child(kind, { namespace: context.deployerNamespace })),
  ]);
  return {
    environments,
    repositories,
    configSets,
    apiTokens,
    revisions,
    children,
    writersOf: writers.of,
    start() {
      for (const { reflector } of watches) reflector.start();
    },
    async whenSynced(signal) {
      await Promise.all(watches.map(({ cache }) => cache.whenSynced(signal)));
    },
    get synced() {
      return watches.every(({ cache }) => cache.synced);
    },
    get missing() {
      return watches.filter(({ cache }) => !cache.synced).map(({ kind }) => kind);
    },
    get oldestProgressMs() {
      const last = watches.map(({ reflector }) => reflector.status().lastProgressAt ?? Number.NEGATIVE_INFINITY);
      return clock.monotonicMs() - Math.min(...last);
    },
    get alive() {
      const isAlive = ({ lastBegunAt, lastProgressAt = Number.NEGATIVE_INFINITY }: ReflectorStatus) =>
        lastBegunAt === undefined || clock.monotonicMs() - Math.max(lastBegunAt, lastProgressAt) < LONGEST_SILENCE_MS;
      return watches.every(({ reflector }) => isAlive(reflector.status()));
    },
    async stop() {
      await Promise.all(watches.map(({ reflector }) => reflector.stop()));
    },
  };
}

const uidOf = ({ metadata }: KubeObject) => [metadata.uid];

/** The Repositories that an environment uses, by name. */
export const repositoriesOf = ({ spec }: EphemeralEnvironment) =>
  [spec.backend.repository, spec.frontend?.repository].filter((name) => name !== undefined);

const configSetsOf = ({ spec }: EphemeralEnvironment) => (spec.configSet === undefined ? [] : [spec.configSet.name]);

const creationKeysOf = (environment: EphemeralEnvironment) => {
  const mark = creationMark(environment);
  return mark === undefined ? [] : [mark.key];
};

/** Who wrote which field when is nobody's business here; kubectl's copy of all that it applied is as long as the object. */
function withoutHistory<T extends KubeObject>(object: T): T {
  const { managedFields: _, annotations, ...metadata } = object.metadata;
  if (annotations === undefined) return { ...object, metadata };
  const { "kubectl.kubernetes.io/last-applied-configuration": __, ...kept } = annotations;
  return { ...object, metadata: { ...metadata, annotations: kept } };
}

/** Of who wrote what, only when: the last change of a config set is told nowhere else. */
function withTimes({ metadata, ...configSet }: ConfigSet): ConfigSet {
  const managedFields = (metadata.managedFields ?? []).map(({ time }) => (time === undefined ? {} : { time }));
  return { ...configSet, metadata: { ...metadata, managedFields } };
}

/** Keeps what is compared or judged. Other children are compared by what they should be, not by what they report. */
function withoutBulk(object: WireObject): WireObject {
  const { status, operation, ...kept } = withoutHistory(object);
  if (object.kind === namespaceKind.kind) return { ...kept, status };
  if (object.kind !== applicationKind.kind) return kept;
  return { ...kept, status: keptStatus((status ?? {}) as ApplicationStatus, operation) };
}
