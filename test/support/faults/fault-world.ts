import { Writable } from "node:stream";
import { type Settings, settingsFrom } from "../../../config/settings.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { NameExists } from "../../../crds/errors.ts";
import type { ControllerContext } from "../../../operator/controllers.ts";
import type { RequestSeam } from "../../../operator/kit/client/request.ts";
import { winstonLog } from "../../../operator/kit/log.ts";
import type { Environments } from "../../../operator/ports/facade/environments.ts";
import type { RepositoryHost } from "../../../operator/ports/repository-host.ts";
import type { OperatorOptions } from "../../../operator/wiring/operator.ts";
import { type PacedClock, pacedClock } from "../doubles/paced-clock.ts";
import { createWorld, type RunningOperator, type World } from "../fixtures/environment-world.ts";
import { testSettings } from "../fixtures/test-settings.ts";
import { until } from "../fixtures/until.ts";
import { FaultField, type Life } from "./fault-field.ts";
import { createFaultRegistry, type FaultRegistry } from "./fault-registry.ts";
import { seededRandom } from "./seeded-random.ts";
import { type Observer, observeWorld } from "./world-observer.ts";

/** The order of plans and every jitter follow from it; `FAULT_SEED=…` runs another one. */
export const faultSeed = Number(process.env.FAULT_SEED ?? 1);

/** A world under observation, with one operator at a time, in which every environment can meet its own fault. */
export interface FaultWorld {
  readonly world: World;
  readonly observer: Observer;
  readonly field: FaultField;
  readonly registry: FaultRegistry;
  /** Of every process, unless its options say otherwise. */
  readonly settings: Settings;
  readonly clock: PacedClock;
  /** Whom every process asks about branches. */
  readonly repositoryHost: RepositoryHost;
  /** All that operators logged, at the finest level. */
  log(): string;
  /** Kills the process that runs, if one does, and starts the next; who died with theirs lives again. */
  nextLife(options?: Partial<OperatorOptions>): Promise<void>;
  /** Asks what a client of the REST interface would, again until it is acknowledged. */
  asClient(environment: string, ask: (environments: Environments) => Promise<unknown>): Promise<void>;
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

/** `probeSeconds` is how often each environment's URLs are asked: some of what happens to it ends only then. */
export async function createFaultWorld(probeSeconds = PROBE_SECONDS): Promise<FaultWorld> {
  const world = await createWorld();
  const observer = await observeWorld(world.admin);
  const field = new FaultField();
  const registry = createFaultRegistry(world);
  await registry.register(REPOSITORY);
  const settings = settingsOf(registry, probeSeconds);
  const repositoryHost = movingBranches();
  const clock = pacedClock();
  const process = new Process({ world, observer, field, settings, repositoryHost, clock });
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
    ...{ world, observer, field, registry, settings, clock, repositoryHost, asClient },
    log: () => process.log,
    nextLife: (options) => process.next(options),
    async create(name, spec = faultSpec(name)) {
      await asClient(name, (environments) => environments.create(name, spec));
      return until(() => observer.environment(name), { what: `'${name}' being seen`, deadlineMs: 30_000 });
    },
    async delete(environment) {
      observer.mayGo(environment);
      await asClient(environment.metadata.name, (environments) => environments.remove(environment));
    },
    async stop() {
      await process.end();
      await observer.stop();
      await world.stop();
    },
  };
}

/** The credentials of Repositories to come are bound, too: nobody could list them before. */
function settingsOf({ hostCredentials }: FaultRegistry, probeSeconds: number): Settings {
  const settings = settingsFrom({ ...testSettings, reconcile: { workers: WORKERS } });
  const reconcile = { ...settings.reconcile, probeSeconds };
  return { ...settings, reconcile, secrets: { ...settings.secrets, hostCredentials } };
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

  ask(question: (environments: Environments) => Promise<unknown>): Promise<unknown> {
    if (this.#running === undefined) return Promise.reject(new Error("no process runs"));
    return question(this.#running.operator.operator.ports.environments);
  }

  async next(options: Partial<OperatorOptions> = {}): Promise<void> {
    await this.end();
    const { world, observer, field, settings, repositoryHost, clock } = this.#place;
    const life = field.life();
    const stream = new Writable({
      write: (chunk, _encoding, written) => {
        this.#log.push(String(chunk));
        written();
      },
    });
    const { onRequest, onPorts = (context: ControllerContext) => context, ...others } = options;
    const operator = await world.startOperator({
      ...{ settings, clock },
      log: winstonLog({ level: "debug", stream }),
      random: seededRandom(faultSeed),
      onRequest: onRequest === undefined ? life.onRequest : around(life.onRequest, onRequest),
      onPorts: (context) => onPorts(life.onPorts({ ...context, repositoryHost })),
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
