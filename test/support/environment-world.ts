import { KubeConfig } from "@kubernetes/client-node";
import { settingsFrom } from "../../config/settings.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { API_VERSION, ENVIRONMENT_UID_LABEL } from "../../crds/group.ts";
import { namespaceName, secretStoreName } from "../../crds/names.ts";
import {
  applicationKind,
  appProjectKind,
  environmentType,
  namespaceKind,
  repositoryType,
  secretKind,
  type WireObject,
} from "../../operator/kinds.ts";
import { systemClock } from "../../operator/kit/clock.ts";
import { createKubeClient, type KubeClient } from "../../operator/kit/kube-client.ts";
import { isAlreadyExists } from "../../operator/kit/kube-errors.ts";
import type { ResourceType } from "../../operator/kit/kube-object.ts";
import { silentLog } from "../../operator/kit/log.ts";
import { createOperator, type Operator, type OperatorOptions } from "../../operator/operator.ts";
import type { UrlProber } from "../../operator/ports/url-prober.ts";
import { startArgocdStandIn } from "./argocd-stand-in.ts";
import type { SharedControlPlane } from "./control-plane.ts";
import { installPlatformChart, testSettings } from "./platform-chart.ts";
import { until } from "./until.ts";

/** The URLs of environments answer at once: nothing is deployed on a control plane alone. */
const answeringProber: UrlProber = {
  probe: async () => ({ status: "healthy", responseTimeMs: 1, message: "it answered 200" }),
};

export const COMMIT = "0123456789abcdef0123456789abcdef01234567";
/** The smallest spec that needs no git host: its commit is given. */
export const backendOnly: EnvironmentSpec = { backend: { repository: "test-backend", branch: "main", commit: COMMIT } };

export interface RunningOperator {
  readonly operator: Operator;
  /** Ends it in order: passes end, connections close. */
  stop(): Promise<void>;
}

/** A control plane with the platform installed, a stand-in for Argo CD, and operators under the platform's own identity. */
export interface World {
  /** As a cluster administrator: for looking at the world and for breaking it. */
  readonly admin: KubeClient;
  startOperator(options?: Partial<OperatorOptions>): Promise<RunningOperator>;
  create(name: string, spec?: EnvironmentSpec): Promise<EphemeralEnvironment>;
  find(name: string): Promise<EphemeralEnvironment | undefined>;
  /** Waits until the environment's phase is this one. */
  expectPhase(name: string, phase: string): Promise<EphemeralEnvironment>;
  /** Waits until the resource, its namespace, its application, its project and its stored secrets are all gone. */
  expectGone(environment: { metadata: { name: string; uid: string } }): Promise<void>;
  /** What exists for an environment, by kind and name. */
  belongings(environment: { metadata: { name: string; uid: string } }): Promise<string[]>;
  stop(): Promise<void>;
}

export async function createWorld(plane: SharedControlPlane): Promise<World> {
  const identity = await installPlatformChart(plane);
  const admin = createKubeClient({ kubeConfig: adminConfig(plane) });
  await registerRepository(admin);
  const argocd = await startArgocdStandIn(admin);
  const running = new Set<RunningOperator>();
  const made = new Set<string>();
  const world: World = {
    admin,
    async startOperator(options = {}) {
      const started = await start({ ...options, kubeConfig: identity.kubeConfig });
      const stop = async () => {
        running.delete(handle);
        await started.stop();
      };
      const handle = { ...started, stop };
      running.add(handle);
      return handle;
    },
    async create(name, spec = backendOnly) {
      made.add(name);
      return admin.create(environmentType, { metadata: { name }, spec });
    },
    find: (name) => admin.find(environmentType, { name }),
    expectPhase: (name, phase) =>
      until(async () => withPhase(await admin.find(environmentType, { name }), phase), {
        what: `environment '${name}' to be ${phase}`,
        deadlineMs: 30_000,
      }),
    async expectGone(environment) {
      await until(async () => (await belongings(admin, environment)).length === 0, {
        what: `everything of '${environment.metadata.name}' to be gone`,
        deadlineMs: 60_000,
      });
    },
    belongings: (environment) => belongings(admin, environment),
    async stop() {
      await Promise.all([...running].map((operator) => operator.stop()));
      await cleanUp(world, made);
      await argocd.stop();
      await admin.close();
    },
  };
  return world;
}

function withPhase(environment: EphemeralEnvironment | undefined, phase: string) {
  return environment?.status?.phase === phase ? environment : undefined;
}

async function start(options: Partial<OperatorOptions> & { kubeConfig: KubeConfig }): Promise<RunningOperator> {
  const operator = createOperator({
    settings: settingsFrom(testSettings),
    log: silentLog,
    clock: systemClock,
    random: Math.random,
    prober: answeringProber,
    ...options,
  });
  const leading = new AbortController();
  await operator.start(AbortSignal.timeout(20_000));
  const reconciling = operator.reconcile(leading.signal);
  return {
    operator,
    async stop() {
      leading.abort();
      await reconciling;
      await operator.stop();
    },
  };
}

async function registerRepository(admin: KubeClient): Promise<void> {
  const repository = {
    apiVersion: API_VERSION,
    kind: "Repository",
    metadata: { name: "test-backend", namespace: "ephemeral-system" },
    spec: {
      type: "backend" as const,
      cloneUrl: "http://127.0.0.1:9/test-backend.git",
      image: { repository: "docker.io/local/test-backend" },
    },
  };
  await admin.create(repositoryType, repository).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

async function belongings(
  admin: KubeClient,
  { metadata }: { metadata: { name: string; uid: string } },
): Promise<string[]> {
  const labelled = async (type: ResourceType<WireObject>) => {
    const { items } = await admin.list(type, { labelSelector: `${ENVIRONMENT_UID_LABEL}=${metadata.uid}` });
    return items.map((object) => `${object.kind ?? type.kind}/${object.metadata.name}`);
  };
  const own = await admin.find(environmentType, { name: metadata.name });
  const store = await admin.find(secretKind as ResourceType, {
    name: secretStoreName(metadata),
    namespace: "ephemeral-secrets",
  });
  const kinds = [namespaceKind, applicationKind, appProjectKind, secretKind];
  return [
    ...(own?.metadata.uid === metadata.uid ? [`EphemeralEnvironment/${metadata.name}`] : []),
    ...(store ? [`store/${secretStoreName(metadata)}`] : []),
    ...(await Promise.all(kinds.map(labelled))).flat(),
  ];
}

async function cleanUp(world: World, made: ReadonlySet<string>): Promise<void> {
  const left = (await Promise.all([...made].map((name) => world.find(name)))).filter((found) => found !== undefined);
  if (left.length === 0) return;
  const sweeper = await world.startOperator();
  for (const { metadata } of left)
    await world.admin.delete(environmentType, { name: metadata.name }, { uid: metadata.uid });
  await Promise.all(left.map((environment) => world.expectGone(environment)));
  await sweeper.stop();
}

function adminConfig(plane: SharedControlPlane): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(plane.kubeconfigPath);
  return config;
}

/** The namespace of an environment and the Secret its pods see. */
export function podSecretRef(name: string) {
  return { name: "environment-secrets-1", namespace: namespaceName(name) };
}
