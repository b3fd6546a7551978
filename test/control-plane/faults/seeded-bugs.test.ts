/**
 * The suite can fail: each classic bug is put into the operator through its ports and seams, provoked, and must be
 * called by the invariant that it breaks. The same provocation of the operator as it is breaks none.
 */
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName, secretStoreName } from "../../../crds/names.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import type { ControllerContext } from "../../../operator/controllers.ts";
import { namespaceKind, networkPolicyKind, secretKind } from "../../../operator/kit/client/kinds.ts";
import { type KubeObject, resourceType } from "../../../operator/kit/client/objects.ts";
import type { RequestSeam } from "../../../operator/kit/client/request.ts";
import type { OperatorOptions } from "../../../operator/wiring/operator.ts";
import { type RecordedLifecycle, recordLifecycles } from "../../support/faults/fault-lifecycles.ts";
import { plansFor } from "../../support/faults/fault-plans.ts";
import { createFaultWorld, type FaultWorld } from "../../support/faults/fault-world.ts";
import { CONVERGENCE_MS, orphans, snapshot } from "../../support/faults/invariants.ts";
import { changedLists, type TroubledWatches, troubledWatches } from "../../support/faults/watch-seams.ts";
import type { InvariantId, Violation } from "../../support/faults/world-observer.ts";
import { fixtureSettings } from "../../support/fixtures/environment-fixture.ts";
import { until } from "../../support/fixtures/until.ts";

const configMap = resourceType({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });

/** So long a deletion is held up, to see whether the resource waits for it. */
const HELD_UP_MS = 5_000;

/** Nothing has to wait longer for its last URL. */
const PROBE_SECONDS = 5;

let world: FaultWorld;
let lifecycles: ReadonlyMap<string, RecordedLifecycle>;
let made = 0;

beforeAll(async () => {
  world = await createFaultWorld(PROBE_SECONDS);
  await world.nextLife();
  lifecycles = new Map((await recordLifecycles(world)).map((lifecycle) => [lifecycle.name, lifecycle]));
}, 300_000);
afterAll(() => world.stop(), 60_000);

type Ports = (context: ControllerContext) => ControllerContext;

/** The port with some of its methods replaced. A bug in a method that the port does not have is a type error. */
function overriding<P extends object>(port: P, methods: Partial<P>): P {
  return Object.assign(Object.create(port), methods);
}

interface Bug {
  readonly name: string;
  readonly breaks: InvariantId;
  /** The operator with the bug. */
  readonly ports?: Ports;
  readonly seam?: RequestSeam;
  /** Brings about what the bug does wrong; answers what was seen of it, beside what the observer sees. */
  readonly provoke: (life: Life) => Promise<readonly Violation[]>;
}

interface Life {
  readonly name: string;
  /** Stands in the watches of whoever runs. */
  readonly watches: TroubledWatches;
  /** Stands around the requests of whoever runs. */
  interfere(seam: RequestSeam): void;
  /** The next process, with the same bug. */
  restart(): Promise<void>;
}

const found = (name: string) => world.observer.environment(name) as EphemeralEnvironment;
const lifecycle = (name: string) => lifecycles.get(name) as RecordedLifecycle;
/** What keeps an environment from being as one that was made without faults, so long after whatever happened. */
async function missing(name: string): Promise<readonly Violation[]> {
  const left = () => lifecycle("create").missing(name);
  await until(() => left().length === 0, { deadlineMs: CONVERGENCE_MS, everyMs: 25 }).catch(() => undefined);
  return left();
}

async function given(name: string): Promise<EphemeralEnvironment> {
  world.field.arm(name);
  await world.create(name);
  expect(await missing(name)).toEqual([]);
  return found(name);
}

function planned(name: string, target: string, fault: string): void {
  const plans = plansFor("create", [target], world.world.admin);
  world.field.arm(
    name,
    plans.find((plan) => plan.fault.name === fault),
  );
}

/** Values are made again by every pass that looks for them. */
const forgetfulManager: Ports = ({ secretManager, ...context }) => ({
  ...context,
  secretManager: overriding(secretManager, {
    async ensure(...[owner, requests]: Parameters<typeof secretManager.ensure>) {
      await secretManager.remove(owner, []);
      const again = requests.map((request) => ({
        generate: () => new Sensitive(`value-${Math.random()}`),
        ...request,
      }));
      return secretManager.ensure(owner, again);
    },
  }),
});

/** The finalizer is written once the namespace is there. */
const lateFinalizer: Ports = ({ statusWriter: real, cluster, ...context }) => {
  const without = new Map<string, EphemeralEnvironment>();
  return {
    ...context,
    statusWriter: overriding(real, {
      async addFinalizer(environment) {
        without.set(environment.metadata.name, environment);
        return environment;
      },
    }),
    cluster: overriding(cluster, {
      async ensure(...[owner, kind, object]: Parameters<typeof cluster.ensure>) {
        const outcome = await cluster.ensure(owner, kind, object);
        const environment = without.get(owner.name);
        if (environment !== undefined && kind.kind === namespaceKind.kind) await real.addFinalizer(environment);
        return outcome;
      },
    }),
  };
};

/** A namespace that is asked to go counts as gone. */
const earlyRelease: Ports = ({ cluster, ...context }) => ({
  ...context,
  cluster: overriding(cluster, {
    async remove(...[owner, kind, ref]: Parameters<typeof cluster.remove>) {
      const removal = await cluster.remove(owner, kind, ref);
      return kind.kind === namespaceKind.kind ? { state: "gone" } : removal;
    },
  }),
});

/** Deletes name their object, and nothing else. */
const deleteByName: RequestSeam = (request, next) => {
  if (request.verb === "delete") delete (request.body as { preconditions?: object }).preconditions;
  return next();
};

/** The time runs from when this process first saw the environment. */
const expiryInMemory: Ports = ({ environment, ...context }) => {
  const firstSeen = new Map<string, string>();
  return {
    ...context,
    environment(name) {
      const seen = environment(name);
      if (seen === undefined) return undefined;
      const creationTimestamp = firstSeen.get(seen.metadata.uid) ?? new Date().toISOString();
      firstSeen.set(seen.metadata.uid, creationTimestamp);
      return { ...seen, metadata: { ...seen.metadata, creationTimestamp } };
    },
  };
};

/** A status that could not be written counts as written. */
const swallowedStatusError: Ports = ({ statusWriter: real, ...context }) => ({
  ...context,
  statusWriter: overriding(real, {
    writeStatus: (...[environment, status]: Parameters<typeof real.writeStatus>) =>
      real.writeStatus(environment, status).catch(() => environment),
  }),
});

/** What a new list lacks stays: as if the cache never compared. */
function keepWhatListsLack(): RequestSeam {
  const before = new Map<string, readonly KubeObject[]>();
  return changedLists((collection, { items, resourceVersion }) => {
    const known = new Set(items.map(({ metadata }) => metadata.uid));
    const all = [...items, ...(before.get(collection) ?? []).filter(({ metadata }) => !known.has(metadata.uid))];
    before.set(collection, all);
    return { items: all, resourceVersion };
  });
}

const bugs: readonly Bug[] = [
  {
    name: "secrets are generated again",
    breaks: "I4",
    ports: forgetfulManager,
    async provoke({ name }) {
      const { status } = await given(name);
      const secret = { name: status?.podSecrets?.at(-1) ?? "", namespace: namespaceName(name) };
      await world.world.admin.delete(secretKind, secret);
      await world.world.reconcile(name);
      return missing(name);
    },
  },
  {
    name: "the finalizer comes after the namespace",
    breaks: "I12",
    ports: lateFinalizer,
    async provoke({ name, restart }) {
      planned(name, "create Namespace env-NAME", "crash after");
      await world.create(name);
      await until(() => world.field.of(name).isDead, { what: "the crash", deadlineMs: 10_000 });
      const environment = found(name);
      world.observer.mayGo(environment);
      await world.world.delete(environment);
      await restart();
      const isGone = () => world.observer.environment(name) === undefined;
      await until(isGone, { what: "the end of it", deadlineMs: CONVERGENCE_MS });
      return orphans(world.world.admin);
    },
  },
  {
    name: "the finalizer goes before the namespace is gone",
    breaks: "I12",
    ports: earlyRelease,
    async provoke({ name }) {
      const environment = await given(name);
      const held = { name: "held", namespace: namespaceName(name), finalizers: ["example.test/hold"] };
      await world.world.admin.create(configMap, { metadata: held });
      await world.delete(environment);
      const isGone = () => found(name) === undefined;
      await until(isGone, { deadlineMs: HELD_UP_MS, everyMs: 25 }).catch(() => undefined);
      await world.observer.violations();
      await world.world.admin.patch(configMap, held, { metadata: { finalizers: [] } }, { as: "merge" });
      await world.world.expectGone(environment);
      return [];
    },
  },
  {
    name: "deletes go by name",
    breaks: "I6",
    seam: deleteByName,
    async provoke({ name, interfere }) {
      const { admin } = world.world;
      const environment = await given(name);
      const ref = { name: secretStoreName(environment.metadata), namespace: "ephemeral-secrets" };
      const foreign = [{ type: secretKind, ref }];
      let before: Map<string, string> | undefined;
      // Between the look and the delete, somebody else's takes the name. (Admission would refuse it of other kinds.)
      interfere(async (request, next) => {
        if (request.verb === "delete" && request.name === ref.name && before === undefined) {
          await admin.delete(secretKind, ref);
          await admin.create(secretKind, { metadata: ref } as never);
          before = await snapshot(admin, foreign);
        }
        return next();
      });
      await world.delete(environment);
      await world.world.expectGone(environment);
      const after = await snapshot(admin, foreign);
      await admin.delete(secretKind, ref);
      expect(before).toBeDefined();
      if (isDeepStrictEqual(after, before)) return [];
      return [{ invariant: "I6", environment: name, what: "somebody else's Secret was deleted" }];
    },
  },
  {
    name: "the expiry is kept in memory",
    breaks: "I5",
    ports: expiryInMemory,
    async provoke({ name, restart }) {
      world.field.arm(name);
      await world.create(name);
      await until(() => found(name)?.status?.expiresAt, { what: "its expiry", deadlineMs: CONVERGENCE_MS });
      await restart();
      await world.world.reconcile(name);
      return [];
    },
  },
  {
    name: "an error of the status write is swallowed",
    breaks: "I1",
    ports: swallowedStatusError,
    async provoke({ name }) {
      planned(name, "patch EphemeralEnvironment/status NAME, ready", "500");
      await world.create(name);
      return missing(name);
    },
  },
  {
    name: "a new list removes nothing",
    breaks: "I2",
    seam: keepWhatListsLack(),
    async provoke({ name, watches, restart }) {
      await given(name);
      // Its policies are in a list of this process.
      await restart();
      // The event of the deletion is lost with the watch: only the next list tells.
      watches.set("hold");
      await world.world.admin.delete(networkPolicyKind, { name: "default-deny", namespace: namespaceName(name) });
      watches.set("expire");
      await until(() => watches.met > 0, { what: "the end of a watch", deadlineMs: CONVERGENCE_MS });
      const isSeenGone = () => !world.observer.inventory(found(name)).has("NetworkPolicy/default-deny");
      await until(() => isSeenGone() || watches.met > 1, { what: "the deletion", deadlineMs: CONVERGENCE_MS });
      watches.set("none");
      return missing(name);
    },
  },
];

async function violationsUnder({ provoke, ...bug }: Bug, isSeeded: boolean): Promise<readonly Violation[]> {
  const name = `seeded-${++made}`;
  const watches = troubledWatches();
  let interference: RequestSeam = (_request, next) => next();
  const seam: RequestSeam = (isSeeded ? bug.seam : undefined) ?? ((_request, next) => next());
  const options: Partial<OperatorOptions> = {
    // No pass that comes anyway may repair in time what a bug left undone.
    settings: { ...world.settings, reconcile: fixtureSettings.reconcile },
    onRequest: (request, next) => interference(request, () => seam(request, () => watches.seam(request, next))),
    ...(isSeeded && bug.ports !== undefined ? { onPorts: bug.ports } : {}),
  };
  await world.nextLife(options);
  const seen = await provoke({
    name,
    watches,
    interfere: (other) => {
      interference = other;
    },
    restart: () => world.nextLife(options),
  });
  await world.nextLife();
  return [...seen, ...(await world.observer.violations()).filter(({ environment }) => environment === name)];
}

describe("the suite calls the bug that", () => {
  test.each(bugs)(
    "$name",
    async (bug) => {
      expect(await violationsUnder(bug, false)).toEqual([]);
      const called = (await violationsUnder(bug, true)).map(({ invariant }) => invariant);
      expect(called).toContain(bug.breaks);
    },
    180_000,
  );
});
