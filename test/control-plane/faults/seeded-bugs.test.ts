/**
 * The suite can fail: each classic bug is put into the operator through its ports and seams, provoked, and must be
 * called by the invariant that it breaks. The same provocation of the operator as it is breaks none.
 */

import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName, secretStoreName } from "../../../crds/names.ts";
import { networkPolicyKind, secretKind } from "../../../operator/kit/client/kinds.ts";
import { resourceType } from "../../../operator/kit/client/objects.ts";
import type { RequestSeam } from "../../../operator/kit/client/request.ts";
import type { OperatorOptions } from "../../../operator/wiring/operator.ts";
import { type RecordedLifecycle, recordLifecycles } from "../../support/faults/fault-lifecycles.ts";
import { plansFor } from "../../support/faults/fault-plans.ts";
import { createFaultWorld, type FaultWorld } from "../../support/faults/fault-world.ts";
import { CONVERGENCE_MS, orphans, snapshot } from "../../support/faults/invariants.ts";
import {
  deleteByName,
  earlyRelease,
  expiryInMemory,
  forgetfulManager,
  keepWhatListsLack,
  lateFinalizer,
  type Ports,
  swallowedStatusError,
} from "../../support/faults/seeded-bugs.ts";
import { type TroubledWatches, troubledWatches } from "../../support/faults/watch-seams.ts";
import type { InvariantId, Violation } from "../../support/faults/world-observer.ts";
import { fixtureSettings } from "../../support/fixtures/environment-fixture.ts";
import { until } from "../../support/fixtures/until.ts";

const configMap = resourceType({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });

/** So long a deletion is held up, to see whether the resource waits for it. */
const HELD_UP_MS = 5_000;

/** Nothing has to wait longer for its last URL. */
const PROBE_SECONDS = 2;

let world: FaultWorld;
let lifecycles: ReadonlyMap<string, RecordedLifecycle>;
let made = 0;

beforeAll(async () => {
  world = await createFaultWorld(PROBE_SECONDS);
  await world.nextLife();
  lifecycles = new Map((await recordLifecycles(world)).map((lifecycle) => [lifecycle.name, lifecycle]));
}, 300_000);
afterAll(() => world.stop(), 60_000);

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
  /** What is missing of the environment when it had time to converge. */
  missing(): Promise<readonly Violation[]>;
  /** Stands in the watches of whoever runs. */
  readonly watches: TroubledWatches;
  /** Stands around the requests of whoever runs. */
  interfere(seam: RequestSeam): void;
  /** The next process, with the same bug. */
  restart(): Promise<void>;
}

const found = (name: string) => world.observer.environment(name) as EphemeralEnvironment;
const lifecycle = (name: string) => lifecycles.get(name) as RecordedLifecycle;
/** What keeps an environment from being as one that was made without faults. */
const left = (name: string) => lifecycle("create").missing(name);

/** How fast time passes for an operator that is not expected to converge. */
const SEEDED_PACE = 5;

/** What still keeps it from that, so long on the operator's clock after whatever happened. */
async function missing(name: string, isSeeded: boolean): Promise<readonly Violation[]> {
  const { clock } = world;
  if (isSeeded) clock.pace(SEEDED_PACE);
  const endMs = clock.monotonicMs() + CONVERGENCE_MS;
  const isOver = () => left(name).length === 0 || clock.monotonicMs() > endMs;
  await until(isOver, { deadlineMs: 2 * CONVERGENCE_MS, everyMs: 25 });
  clock.pace(1);
  return left(name);
}

async function given(name: string): Promise<EphemeralEnvironment> {
  world.field.arm(name);
  await world.create(name);
  await until(() => left(name).length === 0, { what: "an environment to begin with", deadlineMs: CONVERGENCE_MS });
  return found(name);
}

function planned(name: string, target: string, fault: string): void {
  const plans = plansFor("create", [target], world.world.admin);
  world.field.arm(
    name,
    plans.find((plan) => plan.fault.name === fault),
  );
}

const bugs: readonly Bug[] = [
  {
    name: "secrets are generated again",
    breaks: "I4",
    ports: forgetfulManager,
    async provoke({ name, missing }) {
      const { status } = await given(name);
      const secret = { name: status?.podSecrets?.at(-1) ?? "", namespace: namespaceName(name) };
      await world.world.admin.delete(secretKind, secret);
      await world.world.reconcile(name);
      return missing();
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
    async provoke({ name, missing }) {
      planned(name, "patch EphemeralEnvironment/status NAME, ready", "500");
      await world.create(name);
      return missing();
    },
  },
  {
    name: "a new list removes nothing",
    breaks: "I2",
    seam: keepWhatListsLack(),
    async provoke({ name, missing, watches, restart }) {
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
      return missing();
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
    missing: () => missing(name, isSeeded),
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
