import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { RequestSeam } from "../../../operator/kit/client/request.ts";
import type { OperatorOptions } from "../../../operator/wiring/operator.ts";
import { fixtureSettings } from "../fixtures/environment/environment-fixture.ts";
import { until } from "../fixtures/until.ts";
import { recordLifecycles } from "./fault-lifecycles.ts";
import { plansFor } from "./fault-plans.ts";
import type { RecordedLifecycle } from "./fault-run.ts";
import { createFaultWorld, type FaultWorld } from "./fault-world.ts";
import { CONVERGENCE_MS } from "./invariants.ts";
import type { Ports } from "./seeded-bugs.ts";
import { type TroubledWatches, troubledWatches } from "./watch-interceptors.ts";
import type { InvariantId, Violation } from "./world-observer.ts";

/** A bug for the operator, and its proof. */
export interface Bug {
  readonly name: string;
  readonly breaks: InvariantId;
  readonly ports?: Ports;
  readonly interceptor?: RequestSeam;
  /** Triggers the bug; answers violations beyond those of the observer. */
  readonly provoke: (life: Life) => Promise<readonly Violation[]>;
}

/** A world whose operator has the bug, or not, and a unique name of an environment. */
export interface Life {
  readonly world: FaultWorld;
  readonly name: string;
  found(): EphemeralEnvironment;
  /** Creates the environment, and waits until it equals one created without faults. */
  given(): Promise<EphemeralEnvironment>;
  /** Plans this fault at this target of the environment's creation. */
  planned(target: string, fault: string): void;
  /** Differences that remain after the time to converge. */
  missing(): Promise<readonly Violation[]>;
  /** Changes the watches of the current process. */
  readonly watches: TroubledWatches;
  /** Wraps the requests of the current process. */
  interfere(interceptor: RequestSeam): void;
  restart(): Promise<void>;
}

export interface BugTrial {
  /** Violations with the bug or, for comparison, without it. */
  violationsUnder(bug: Bug, isSeeded: boolean): Promise<readonly Violation[]>;
  stop(): Promise<void>;
}

/** Short enough to wait for the last URL. */
const PROBE_SECONDS = 2;
/** Speed of time for an operator that is not expected to converge. */
const SEEDED_PACE = 5;

/** Starts the world, and records a creation without faults. */
export async function prepareBugTrial(): Promise<BugTrial> {
  const world = await createFaultWorld({ probeSeconds: PROBE_SECONDS });
  await world.nextLife();
  const lifecycles = await recordLifecycles(world);
  const creation = lifecycles.find(({ name }) => name === "create") as RecordedLifecycle;
  let made = 0;
  return {
    violationsUnder(bug, isSeeded) {
      made += 1;
      return violationsUnder({ world, creation, name: `seeded-${made}` }, bug, isSeeded);
    },
    stop: () => world.stop(),
  };
}

interface Subject {
  readonly world: FaultWorld;
  readonly creation: RecordedLifecycle;
  readonly name: string;
}

async function violationsUnder(
  subject: Subject,
  { provoke, ...bug }: Bug,
  isSeeded: boolean,
): Promise<readonly Violation[]> {
  const { world, name } = subject;
  const watches = troubledWatches();
  let interference: RequestSeam = (_request, next) => next();
  const interceptor: RequestSeam = (isSeeded ? bug.interceptor : undefined) ?? ((_request, next) => next());
  const options: Partial<OperatorOptions> = {
    // A recurring reconcile could repair the bug's effects in time.
    settings: { ...world.settings, reconcile: fixtureSettings.reconcile },
    onRequest: (request, next) =>
      interference(request, () => interceptor(request, () => watches.interceptor(request, next))),
    ...(isSeeded && bug.ports !== undefined ? { onPorts: bug.ports } : {}),
  };
  await world.nextLife(options);
  const seen = await provoke({
    ...environmentOf(subject),
    missing: () => missing(subject, isSeeded),
    watches,
    interfere: (other) => {
      interference = other;
    },
    restart: () => world.nextLife(options),
  });
  await world.nextLife();
  return [...seen, ...(await world.observer.violations()).filter(({ environment }) => environment === name)];
}

function environmentOf({
  world,
  creation,
  name,
}: Subject): Pick<Life, "world" | "name" | "found" | "given" | "planned"> {
  const found = () => world.observer.environment(name) as EphemeralEnvironment;
  return {
    world,
    name,
    found,
    async given() {
      world.field.arm(name);
      await world.create(name);
      const isMade = () => creation.missing(name).length === 0;
      await until(isMade, { what: "an environment to begin with", deadlineMs: CONVERGENCE_MS });
      return found();
    },
    planned(target, fault) {
      const plans = plansFor("create", [target], { admin: world.world.admin, clock: world.clock });
      world.field.arm(
        name,
        plans.find((plan) => plan.fault.name === fault),
      );
    },
  };
}

/** Remaining differences from an environment without faults, after the convergence time on the operator's clock. */
async function missing({ world, creation, name }: Subject, isSeeded: boolean): Promise<readonly Violation[]> {
  const { clock } = world;
  if (isSeeded) clock.pace(SEEDED_PACE);
  const endMs = clock.monotonicMs() + CONVERGENCE_MS;
  const isOver = () => creation.missing(name).length === 0 || clock.monotonicMs() > endMs;
  await until(isOver, { deadlineMs: 2 * CONVERGENCE_MS, everyMs: 25 });
  clock.pace(1);
  return creation.missing(name);
}
