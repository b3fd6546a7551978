import { Writable } from "node:stream";
import { type Settings, settingsFrom } from "../../../config/settings.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { NameExists } from "../../../crds/errors.ts";
import type { ControllerDependencies } from "../../../operator/controllers/index.ts";
import type { RequestSeam } from "../../../operator/kit/client/request.ts";
import { winstonLog } from "../../../operator/kit/log.ts";
import type { RepositoryHost } from "../../../operator/ports/repository-host.ts";
import type { Operator, OperatorOptions } from "../../../operator/wiring/operator.ts";
import { type PacedClock, pacedClock } from "../doubles/paced-clock.ts";
import { createWorld, type RunningOperator, type World } from "../fixtures/environment/environment-world.ts";
import { testSettings } from "../fixtures/test-settings.ts";
import { until } from "../fixtures/until.ts";
import { FaultField, type Life } from "./fault-field.ts";
import { createFaultRegistry, type FaultRegistry } from "./fault-registry.ts";
import { CONVERGENCE_MS } from "./invariants.ts";
import { AUDIENCE_SETTINGS, type Audience, createAudience, PUBLIC_URL } from "./pull-requests/audience.ts";
import { seededRandom } from "./seeded-random.ts";
import { type Observer, observeWorld } from "./world-observer.ts";

/** The order of plans and every jitter follow from it; `FAULT_SEED=…` runs another one. */
export const faultSeed = Number(process.env.FAULT_SEED ?? 1);

/** What is asked of the process that runs. */
export type Question = (ports: Operator["ports"]) => Promise<unknown>;

/** How a world differs from the usual one. */
export interface FaultWorldOptions {
  /** How often each environment's URLs are asked: some of what happens to it ends only then. */
  readonly probeSeconds?: number;
  /** How fast time passes for operators: faults cost less waiting. What other programs do takes as long as ever. */
  readonly pace?: number;
  readonly convergenceMs?: number;
  /** So long before the expiry owners are warned by e-mail; not at all unless said. */
  readonly warningHours?: number;
  /** So often hosts are asked for what no webhook told; without it only at the start, and never for our hooks. */
  readonly sweepMinutes?: number;
}

/** A world under observation, with one operator at a time, in which every environment can meet its own fault. */
export interface FaultWorld {
  readonly world: World;
  readonly observer: Observer;
  readonly field: FaultField;
  readonly registry: FaultRegistry;
  readonly audience: Audience;
  /** Of every process, unless its options say otherwise. */
  readonly settings: Settings;
  readonly clock: PacedClock;
  /** So long after the end of a fault the wanted state is reached, by the operator's clock. */
  readonly convergenceMs: number;
  /** Whom every process asks about branches. */
  readonly repositoryHost: RepositoryHost;
  /** All that operators logged, at the finest level. */
  log(): string;
  /** Kills the process that runs, if one does, and starts the next; who died with theirs lives again. */
  nextLife(options?: Partial<OperatorOptions>): Promise<void>;
  /** Asks what a client of the REST interface, or a host, would: again until it is acknowledged. */
  asClient(environment: string, ask: Question): Promise<void>;
  create(name: string, spec?: EnvironmentSpec): Promise<EphemeralEnvironment>;
  delete(environment: EphemeralEnvironment): Promise<void>;
  stop(): Promise<void>;
}

/** Often enough for what waits for an answer of the URLs to come in time, seldom enough for hundreds of environments. */
const PROBE_SECONDS = 10;
/** Workers enough that a pass which is held up by its fault holds up no other. */
const WORKERS = 64;

/** Who asked a process that died waits for the next one, which comes when every other plan is over. */
const PATIENCE_MS = 1_800_000;

/** Whose images everybody runs. */
const REPOSITORY = "fault-backend";

/** An environment of the smallest spec, on a branch of its own name; its images come from a private registry. */
export const faultSpec = (name: string): EnvironmentSpec => ({
  ttlHours: 24,
  backend: { repository: REPOSITORY, branch: name },
});

/** Somebody pushes between any two questions: what was settled must not be asked again. */
function movingBranches(): RepositoryHost {
  let pushes = 0;
  return {
    async head() {
      pushes += 1;
      return pushes.toString(16).padStart(40, "0");
    },
  };
}

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
        // A client that does not know whether its own request was heard looks whether it is there.
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

/** The credentials and channels of Repositories to come are bound, too: nobody could list them before. */
function settingsOf(
  { hostCredentials }: FaultRegistry,
  { channels }: Audience,
  { probeSeconds = PROBE_SECONDS, warningHours, sweepMinutes }: FaultWorldOptions,
): Settings {
  const webhooks = { ...AUDIENCE_SETTINGS.webhooks, sweepMinutes };
  const asked = sweepMinutes === undefined ? {} : { publicUrl: PUBLIC_URL, webhooks };
  const settings = settingsFrom({ ...testSettings, ...AUDIENCE_SETTINGS, ...asked, reconcile: { workers: WORKERS } });
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

/** One seam around another. */
function around(inner: RequestSeam, outer: RequestSeam): RequestSeam {
  return (request, next) => outer(request, () => inner(request, next));
}

/** Where processes run, and how. */
interface Place {
  readonly world: World;
  readonly observer: Observer;
  readonly field: FaultField;
  readonly settings: Settings;
  readonly repositoryHost: RepositoryHost;
  readonly clock: PacedClock;
  readonly audience: Audience;
}

/** The process that runs now, and what all of them logged. */
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
      onPorts: (context) => onPorts(life.onPorts({ ...context, repositoryHost, ...audience.ports })),
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
