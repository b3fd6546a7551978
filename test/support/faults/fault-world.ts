import { Writable } from "node:stream";
import { type Settings, settingsFrom } from "../../../config/settings.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { NameExists } from "../../../crds/errors.ts";
import type { ControllerDependencies } from "../../../operator/controllers/index.ts";
import type { RequestInterceptor } from "../../../operator/kit/client/request.ts";
import { winstonLog } from "../../../operator/kit/log.ts";
import type { RepositoryFiles, RepositoryHost } from "../../../operator/ports/repository-host.ts";
import type { Operator, OperatorOptions } from "../../../operator/wiring/operator.ts";
import { type PacedClock, pacedClock } from "../doubles/paced-clock.ts";
import { testSettings } from "../fixtures/test-settings.ts";
import { until } from "../fixtures/until.ts";
import { createWorld, type RunningOperator, type World } from "../worlds/environment-world.ts";
import { FaultField, type Life } from "./fault-field.ts";
import { createFaultRegistry, type FaultRegistry } from "./fault-registry.ts";
import { CONVERGENCE_MS } from "./invariants.ts";
import { AUDIENCE_SETTINGS, type Audience, createAudience, PUBLIC_URL } from "./pull-requests/audience.ts";
import { seededRandom } from "./seeded-random.ts";
import { type Observer, observeWorld } from "./world-observer.ts";

/** Determines the order of plans and every jitter; `FAULT_SEED=…` selects another one. */
export const faultSeed = Number(process.env.FAULT_SEED ?? 1);

export type Question = (ports: Operator["ports"]) => Promise<unknown>;

/** Differences of a world from the usual one. */
export interface FaultWorldOptions {
  /** Interval of probes of each environment's URLs: some parts of life end only after a probe. */
  readonly probeSeconds?: number;
  /** Speed of time for operators, which shortens the waits after faults. Other programs are unaffected. */
  readonly pace?: number;
  readonly convergenceMs?: number;
  /** Hours between an owner's e-mail warning and the expiry; absent: no warning. */
  readonly warningHours?: number;
  /** Interval of checks for missed webhooks; absent: only at the start, and never for our hooks. */
  readonly sweepMinutes?: number;
}

/** A world under observation, with one operator at a time, in which every environment can meet its own fault. */
export interface FaultWorld {
  readonly world: World;
  readonly observer: Observer;
  readonly field: FaultField;
  readonly registry: FaultRegistry;
  readonly audience: Audience;
  readonly settings: Settings;
  readonly clock: PacedClock;
  /** Maximum time from the end of a fault to the desired state, on the operator's clock. */
  readonly convergenceMs: number;
  readonly repositoryHost: RepositoryHost;
  /** All log lines of operators, at the finest level. */
  log(): string;
  /** Kills the current process, if any, and starts the next; environments with a dead process continue. */
  nextLife(options?: Partial<OperatorOptions>): Promise<void>;
  /** Repeats a call of a REST client, or a host, until it is acknowledged. */
  asClient(environment: string, ask: Question): Promise<void>;
  create(name: string, spec?: EnvironmentSpec): Promise<EphemeralEnvironment>;
  delete(environment: EphemeralEnvironment): Promise<void>;
  stop(): Promise<void>;
}

const PROBE_SECONDS = 10;
/** Enough workers that a reconcile delayed by its fault delays no other. */
const WORKERS = 64;

/** An environment whose process is dead wakes until the next one: it takes no place that another needs. */
const WAKES_AT_ONCE = 1000;

/** A call to a dead process waits for the next one, which comes after every other plan. */
const PATIENCE_MS = 1_800_000;

/** The Repository of all images. */
const REPOSITORY = "fault-backend";

/** An environment of the smallest spec, on a branch of its own name; its images come from a private registry. */
export const faultSpec = (name: string): EnvironmentSpec => ({
  ttlHours: 24,
  backend: { repository: REPOSITORY, branch: name },
});

/** A push happens between any two requests: a settled commit must not be requested again. */
function movingBranches(): RepositoryHost {
  let pushes = 0;
  return {
    async head() {
      pushes += 1;
      return pushes.toString(16).padStart(40, "0");
    },
  };
}

/** Every commit has each seed. */
const seeds: RepositoryFiles = {
  async file() {
    return Buffer.from("SELECT 1;");
  },
};

export async function createFaultWorld(options: FaultWorldOptions = {}): Promise<FaultWorld> {
  const { pace = 1, convergenceMs = CONVERGENCE_MS } = options;
  const world = await createWorld();
  const observer = await observeWorld(world.admin);
  const clock = pacedClock();
  clock.pace(pace);
  const field = new FaultField(clock);
  const registry = createFaultRegistry(world);
  const audience = createAudience(world);
  await Promise.all([registry.register(REPOSITORY), audience.prepare()]);
  const settings = settingsOf(registry, audience, options);
  const repositoryHost = movingBranches();
  const process = new Process({ world, observer, field, settings, repositoryHost, clock, audience });
  const asClient: FaultWorld["asClient"] = async (environment, ask) => {
    const isAcknowledged = async () => {
      if (field.of(environment).isDead) return false;
      return process.ask(ask).then(
        () => true,
        // A client with a lost answer checks that its object exists.
        (error: unknown) => error instanceof NameExists && observer.environment(environment) !== undefined,
      );
    };
    await until(isAcknowledged, { what: `the answer about '${environment}'`, deadlineMs: PATIENCE_MS, everyMs: 100 });
  };
  return {
    world,
    observer,
    field,
    registry,
    audience,
    settings,
    clock,
    convergenceMs,
    repositoryHost,
    asClient,
    log: () => process.log,
    nextLife: (options) => process.next(options),
    async create(name, spec = faultSpec(name)) {
      await asClient(name, ({ environments }) => environments.create(name, spec));
      return until(() => observer.environment(name), { what: `'${name}' being seen`, deadlineMs: 3e4 });
    },
    async delete(environment) {
      observer.mayGo(environment);
      await asClient(environment.metadata.name, ({ environments }) => environments.remove(environment));
    },
    async stop() {
      await process.end();
      await observer.stop();
      await world.stop();
    },
  };
}

/** Credentials and channels of future Repositories are bound, too: they can't be listed beforehand. */
function settingsOf(
  { hostCredentials }: FaultRegistry,
  { channels }: Audience,
  { probeSeconds = PROBE_SECONDS, warningHours, sweepMinutes }: FaultWorldOptions,
): Settings {
  const webhooks = { ...AUDIENCE_SETTINGS.webhooks, sweepMinutes };
  const requested = sweepMinutes === undefined ? {} : { publicUrl: PUBLIC_URL, webhooks };
  const settings = settingsFrom({
    ...testSettings,
    ...AUDIENCE_SETTINGS,
    ...requested,
    reconcile: { workers: WORKERS, awakeMinutes: 0, wakesAtOnce: WAKES_AT_ONCE },
  });
  const { notifications, secrets } = settings;
  const hours = warningHours === undefined ? [] : [warningHours];
  return {
    ...settings,
    reconcile: { ...settings.reconcile, probeSeconds },
    secrets: { ...secrets, hostCredentials },
    notifications: {
      ...notifications,
      chat: { ...notifications.chat, webhooks: channels },
      expiryWarnings: { ...notifications.expiryWarnings, hours },
    },
  };
}

function around(inner: RequestInterceptor, outer: RequestInterceptor): RequestInterceptor {
  return (request, next) => outer(request, () => inner(request, next));
}

interface Place {
  readonly world: World;
  readonly observer: Observer;
  readonly field: FaultField;
  readonly settings: Settings;
  readonly repositoryHost: RepositoryHost;
  readonly clock: PacedClock;
  readonly audience: Audience;
}

class Process {
  readonly #place: Place;
  #running: { readonly life: Life; readonly operator: RunningOperator; readonly endReading: () => void } | undefined;
  #log: string[] = [];

  constructor(place: Place) {
    this.#place = place;
  }

  get log(): string {
    return this.#log.join("");
  }

  ask(question: Question): Promise<unknown> {
    if (this.#running === undefined) return Promise.reject(new Error("no process runs"));
    return question(this.#running.operator.operator.ports);
  }

  async next(options: Partial<OperatorOptions> = {}): Promise<void> {
    await this.end();
    const { world, observer, field, settings, repositoryHost, clock, audience } = this.#place;
    const life = field.life();
    const stream = new Writable({
      write: (chunk, _encoding, written) => {
        this.#log.push(String(chunk));
        written();
      },
    });
    const { onRequest, onPorts = (context: ControllerDependencies) => context, ...others } = options;
    const operator = await world.startOperator({
      settings,
      clock,
      log: winstonLog({ level: "debug", stream }),
      random: seededRandom(faultSeed),
      onRequest: onRequest === undefined ? life.onRequest : around(life.onRequest, onRequest),
      onPorts: (context) =>
        onPorts(life.onPorts({ ...context, repositoryHost, repositoryFiles: seeds, ...audience.ports })),
      ...others,
    });
    this.#running = { life, operator, endReading: observer.readThrough(operator.operator.ports.environments) };
    field.revive();
  }

  async end(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    this.#running = undefined;
    running.life.end();
    await until(() => running.life.isIdle, { what: "the last answers", deadlineMs: 30_000 });
    running.endReading();
    await running.operator.abandon();
  }
}
