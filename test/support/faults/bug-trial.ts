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
import { type TroubledWatches, troubledWatches } from "./watch-seams.ts";
import type { InvariantId, Violation } from "./world-observer.ts";

/** A bug that is put into the operator, and what shows it. */
export interface Bug {
  readonly name: string;
  readonly breaks: InvariantId;
  /** The operator with the bug. */
  readonly ports?: Ports;
  readonly seam?: RequestSeam;
  /** Brings about what the bug does wrong; answers what was seen of it, beside what the observer sees. */
  readonly provoke: (life: Life) => Promise<readonly Violation[]>;
}

/** A world whose operator has the bug, or has not, and an environment's name that nothing else uses. */
export interface Life {
  readonly world: FaultWorld;
  readonly name: string;
  /** The environment as it is now. */
  found(): EphemeralEnvironment;
  /** Makes the environment, and waits until it is as one that was made without faults. */
  given(): Promise<EphemeralEnvironment>;
  /** Gives the environment the plan of its creation with this target and fault. */
  planned(target: string, fault: string): void;
  /** What is missing of the environment when it had time to converge. */
  missing(): Promise<readonly Violation[]>;
  /** Stands in the watches of the process that runs. */
  readonly watches: TroubledWatches;
  /** Stands around the requests of the process that runs. */
  interfere(seam: RequestSeam): void;
  /** The next process, with the same bug. */
  restart(): Promise<void>;
}

/** Where bugs are tried, one after the other. */
export interface BugTrial {
  /** What is broken when the operator has the bug, or, for comparison, when it has not. */
  violationsUnder(bug: Bug, isSeeded: boolean): Promise<readonly Violation[]>;
  stop(): Promise<void>;
}

/** Nothing has to wait longer for its last URL. */
const PROBE_SECONDS = 2;
/** How fast time passes for an operator that is not expected to converge. */
const SEEDED_PACE = 5;

/** Starts the world, and learns from it what a creation without faults is like. */
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

/** An environment of the trial. */
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
  const seam: RequestSeam = (isSeeded ? bug.seam : undefined) ?? ((_request, next) => next());
  const options: Partial<OperatorOptions> = {
    // No pass that comes anyway may repair in time what a bug left undone.
    settings: { ...world.settings, reconcile: fixtureSettings.reconcile },
    onRequest: (request, next) => interference(request, () => seam(request, () => watches.seam(request, next))),
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

/** What still keeps it from being as one that was made without faults, so long on the operator's clock after whatever happened. */
async function missing({ world, creation, name }: Subject, isSeeded: boolean): Promise<readonly Violation[]> {
  const { clock } = world;
  if (isSeeded) clock.pace(SEEDED_PACE);
  const endMs = clock.monotonicMs() + CONVERGENCE_MS;
  const isOver = () => creation.missing(name).length === 0 || clock.monotonicMs() > endMs;
  await until(isOver, { deadlineMs: 2 * CONVERGENCE_MS, everyMs: 25 });
  clock.pace(1);
  return creation.missing(name);
}
