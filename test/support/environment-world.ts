import { randomUUID } from "node:crypto";
import { KubeConfig } from "@kubernetes/client-node";
import { settingsFrom } from "../../config/settings.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { API_VERSION, RECONCILE_ANNOTATION } from "../../crds/group.ts";
import { namespaceName } from "../../crds/names.ts";
import type { RepositorySpec } from "../../crds/repository.ts";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "../../deploy/local/control-plane.ts";
import { environmentType, repositoryType } from "../../operator/kinds.ts";
import { systemClock } from "../../operator/kit/clock.ts";
import { createKubeClient, type KubeClient } from "../../operator/kit/kube-client.ts";
import { silentLog } from "../../operator/kit/log.ts";
import { createOperator, type Operator, type OperatorOptions } from "../../operator/operator.ts";
import type { UrlProber } from "../../operator/ports/url-prober.ts";
import { type ArgocdStandIn, startArgocdStandIn } from "./argocd-stand-in.ts";
import { FIRST_POD_SECRET, type Identified, type Inventory, inventoryOf } from "./environment-inventory.ts";
import { installPlatformChart, type PlatformIdentity, testSettings } from "./platform-chart.ts";
import { until } from "./until.ts";

/** The URLs of environments answer at once: nothing is deployed on a control plane alone. */
export const answeringProber: UrlProber = {
  probe: async () => ({ status: "healthy", responseTimeMs: 1, message: "it answered 200" }),
};

export const COMMIT = "0123456789abcdef0123456789abcdef01234567";
/** The smallest spec that needs no git host: its commit is given. */
export const backendOnly: EnvironmentSpec = { backend: { repository: "test-backend", branch: "main", commit: COMMIT } };

export interface RunningOperator {
  readonly operator: Operator;
  /** Ends it in order: passes end, connections close. */
  stop(): Promise<void>;
  /** Ends it without waiting for its passes; what they still try must fail by a request seam. */
  abandon(): Promise<void>;
}

/**
 * A control plane of one's own with the platform installed, a stand-in for Argo CD, and operators under the platform's
 * own identity. Not the shared one: an operator acts on every environment it sees, also on another suite's.
 */
export interface World {
  readonly plane: ControlPlane;
  readonly identity: PlatformIdentity;
  /** As a cluster administrator: for looking at the world and for breaking it. */
  readonly admin: KubeClient;
  /** Decides how applications fare. */
  readonly argocd: Pick<ArgocdStandIn, "decide">;
  startOperator(options?: Partial<OperatorOptions>): Promise<RunningOperator>;
  register(name: string, spec?: Partial<RepositorySpec>): Promise<void>;
  create(name: string, spec?: EnvironmentSpec): Promise<EphemeralEnvironment>;
  delete(environment: Identified): Promise<void>;
  find(name: string): Promise<EphemeralEnvironment | undefined>;
  /** Waits until the environment is as wanted; the failure says how it was instead. */
  expectState(
    name: string,
    what: string,
    isSo: (found: EphemeralEnvironment) => boolean,
  ): Promise<EphemeralEnvironment>;
  /** Waits until the environment's phase is this one. */
  expectPhase(name: string, phase: string): Promise<EphemeralEnvironment>;
  /** Asks for a pass and waits until one that began after the question has ended; answers what it left. */
  reconcile(name: string): Promise<EphemeralEnvironment>;
  /** Waits until nothing of the environment is left, of whatever kind. */
  expectGone(environment: Identified): Promise<void>;
  /** What exists for an environment now. */
  inventory(environment: Identified): Promise<Inventory>;
  /** Ends the operators that still run: what a test that failed left behind would act beside the next one's. */
  abandonOperators(): Promise<void>;
  stop(): Promise<void>;
}

const PHASE_DEADLINE_MS = 30_000;
const GONE_DEADLINE_MS = 90_000;
/** Phases such as `updating` pass: with a longer rest one could be over before it was seen. */
const LOOK_EVERY_MS = 2;

export async function createWorld(options: ControlPlaneOptions = {}): Promise<World> {
  const plane = await startControlPlane(options);
  const identity = await installPlatformChart(plane);
  const admin = createKubeClient({ kubeConfig: adminConfig(plane) });
  const argocd = await startArgocdStandIn(admin);
  const running = new Set<RunningOperator>();
  const world: World = {
    ...{ plane, identity, admin, argocd },
    async startOperator(options = {}) {
      const operator = await start({ kubeConfig: identity.kubeConfig, ...options });
      running.add(operator);
      return operator;
    },
    ...objects(admin),
    async abandonOperators() {
      await Promise.all([...running].map((operator) => operator.abandon()));
      running.clear();
    },
    async stop() {
      await world.abandonOperators();
      await argocd.stop();
      await admin.close();
      await plane.stop();
    },
  };
  await world.register("test-backend");
  return world;
}

function objects(
  admin: KubeClient,
): Omit<World, "plane" | "identity" | "admin" | "argocd" | "startOperator" | "abandonOperators" | "stop"> {
  const find = (name: string) => admin.find(environmentType, { name });
  const expectState: World["expectState"] = async (name, what, isSo) => {
    let found: EphemeralEnvironment | undefined;
    const look = async () => {
      found = await find(name);
      return found !== undefined && isSo(found) ? found : undefined;
    };
    const patience = { what: `environment '${name}' ${what}`, deadlineMs: PHASE_DEADLINE_MS, everyMs: LOOK_EVERY_MS };
    return until(look, patience).catch((error) => {
      throw new Error(`${error.message}; it is ${JSON.stringify(found?.status)}`);
    });
  };
  return {
    find,
    expectState,
    expectPhase: (name, phase) => expectState(name, `being ${phase}`, ({ status }) => status?.phase === phase),
    async reconcile(name) {
      const token = randomUUID();
      const patch = { metadata: { annotations: { [RECONCILE_ANNOTATION]: token } } };
      await admin.patch(environmentType, { name }, patch, { as: "merge" });
      return expectState(name, "having answered", ({ status }) => status?.lastHandledReconcileAt === token);
    },
    inventory: (environment) => inventoryOf(admin, environment),
    async register(name, spec = {}) {
      await admin.create(repositoryType, repositoryManifest(name, spec));
    },
    create: (name, spec = backendOnly) => admin.create(environmentType, { metadata: { name }, spec }),
    async delete({ metadata: { name, uid } }) {
      await admin.delete(environmentType, { name }, { uid });
    },
    async expectGone(environment) {
      const { name, uid } = environment.metadata;
      // The resource goes last: while it is there, no other kind has to be asked for.
      const isGone = async () =>
        (await find(name))?.metadata.uid !== uid && (await inventoryOf(admin, environment)).size === 0;
      await until(isGone, { what: `everything of '${name}' being gone`, deadlineMs: GONE_DEADLINE_MS });
    },
  };
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
  let ended: Promise<void> | undefined;
  const end = (reason?: string) => {
    leading.abort(reason);
    ended ??= reconciling.then(() => operator.stop());
    return ended;
  };
  return { operator, stop: () => end(), abandon: () => end("lost") };
}

function repositoryManifest(name: string, spec: Partial<RepositorySpec>) {
  return {
    apiVersion: API_VERSION,
    kind: "Repository" as const,
    metadata: { name, namespace: "ephemeral-system" },
    spec: {
      type: "backend" as const,
      cloneUrl: `http://127.0.0.1:9/${name}.git`,
      image: { repository: `docker.io/local/${name}` },
      ...spec,
    },
  };
}

function adminConfig(plane: ControlPlane): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(plane.kubeconfigPath);
  return config;
}

/** The Secret that an environment's pods see from the beginning. */
export function podSecretRef(name: string) {
  return { name: FIRST_POD_SECRET, namespace: namespaceName(name) };
}
