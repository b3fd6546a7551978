import type { Settings } from "../../../../config/settings.ts";
import { findCondition } from "../../../../crds/conditions.ts";
import type { CopySource } from "../../../../crds/database-copy.schema.ts";
import { digestOf } from "../../../../crds/digest.ts";
import { desiredGeneration, madeGeneration } from "../../../../crds/environment/database-generation.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { present } from "../../../../crds/present.ts";
import { mappingOf } from "../../../../crds/repository/values-mapping.ts";
import type { LoadedSeed } from "../../../../crds/seed.schema.ts";
import { failed, type Unfinished, waiting } from "../step-result.ts";
import type { FirstData, LoadFile, PendingLoad, ServiceInput } from "./backing-service.ts";
import { copyProblem, copyValues } from "./database-copy.ts";
import { databaseImage } from "./database-image.ts";

/** Fallback for the step that reads the file, which says when it is read again. */
const RECHECK_MS = 300_000;

/** Name of the Job of a load (the chart's `seed.yaml`), and of the Secret with the file of a seed in git. */
export const loadName = (load: string) => `database-seed-${load}`;

/** The data that a database begins with: that of a file, or that of another environment. */
type Origin =
  | { readonly seed: LoadedSeed; readonly from?: never }
  | { readonly from: CopySource; readonly seed?: never };

/** The origin of a database that is made now: of the environment, else its config set, else its backend's Repository. */
function chosenOrigin(input: ServiceInput, settings: Settings): Origin | undefined {
  const { environment, configSet, repositories } = input;
  const { seed: own, from } = environment.spec.database ?? {};
  if (from !== undefined) return { from };
  const seed = own ?? configSet?.database?.seed ?? repositories.backend?.spec.database?.seed;
  if (seed?.git === undefined) return seed && { seed };
  const { file } = environment.status?.database ?? {};
  const begun = { seed: { ...seed, ...present({ commit: file?.commit }) } };
  const isBegun = file?.stored === true && file.load === loadId(begun, input, settings);
  // A push meanwhile would be another load into a folder that may be in its place already.
  if (isBegun && findCondition(environment.status?.conditions, "DatabaseReady")?.reason !== "SeedFailed") return begun;
  const commit = environment.status?.sources?.[seed.git]?.applied?.commit;
  return { seed: { ...seed, ...present({ commit }) } };
}

/** The number of the database in the values: nothing new is made while nothing may run. */
function usedGeneration(environment: EphemeralEnvironment): number {
  const desired = desiredGeneration(environment);
  return environment.spec.suspended ? (madeGeneration(environment) ?? desired) : desired;
}

const isMade = (environment: EphemeralEnvironment) => madeGeneration(environment) === usedGeneration(environment);

/** True while a database takes the place of another one. */
const isMadeAnew = (environment: EphemeralEnvironment) =>
  madeGeneration(environment) !== undefined && !isMade(environment);

/** Reason why the load can't begin; a database that is to be made anew need not be. */
function obstacleTo({ from, seed }: Origin, file: LoadFile | undefined, input: ServiceInput): Unfinished | undefined {
  const problem = seed ? fileObstacle(seed, file, input.environment) : copyProblem(from.environment, input);
  return problem && withWayBack(problem, input.environment);
}

/** A problem of a load, with what serves meanwhile where the database is to be made anew. */
export function withWayBack(problem: Unfinished, environment: EphemeralEnvironment): Unfinished {
  if (!isMadeAnew(environment)) return problem;
  const back = `the former database serves, and stays with database.generation ${madeGeneration(environment)}`;
  return { ...problem, message: `${problem.message}; ${back}` };
}

function fileObstacle(seed: LoadedSeed, file: LoadFile | undefined, environment: EphemeralEnvironment) {
  if (seed.git === undefined) return undefined;
  const { load, stored } = environment.status?.database?.file ?? {};
  if (stored === true && file?.load === load) return undefined;
  const from = `the ${seed.git}'s repository at commit ${seed.commit?.slice(0, 8)}`;
  return waiting("ReadingSeed", `reading the seed ${seed.path} of ${from}`, { requeueAfterMs: RECHECK_MS });
}

/** The origin to load; none into a database that was made already, and none while nothing may run. */
function pendingOrigin(input: ServiceInput, settings: Settings): Origin | undefined {
  const { environment } = input;
  return isMade(environment) || environment.spec.suspended === true ? undefined : chosenOrigin(input, settings);
}

/**
 * Chart values for the data of the database: `claim` is its volume, `seeded` stays while it lives, `seed` until it is
 * loaded. Nothing needs its origin afterwards.
 */
export function dataValues(input: ServiceInput, settings: Settings): Readonly<Record<string, unknown>> {
  const { database } = input.environment.status ?? {};
  const generation = usedGeneration(input.environment);
  const origin = isMade(input.environment) ? (database?.seed ?? database?.from) : chosenOrigin(input, settings);
  const load = loadOf(input, settings);
  return {
    ...(generation === 1 ? {} : { claim: `database-${generation}` }),
    ...(origin === undefined ? {} : { seeded: true }),
    ...(load && { seed: { ...load, seconds: settings.database.seedSeconds } }),
  };
}

/** Id of a load. Another seed, mask, image or database is another Job, because Kubernetes changes none. */
function loadId({ seed, from }: Origin, input: ServiceInput, settings: Settings): string {
  const generation = usedGeneration(input.environment);
  const what = seed ?? copyValues(from.environment, input);
  return digestOf([what, databaseImage(input, settings), ...(generation === 1 ? [] : [generation])], 8);
}

/** Values of the Job. */
function loadOf(input: ServiceInput, settings: Settings) {
  const origin = pendingOrigin(input, settings);
  if (origin === undefined) return undefined;
  const id = loadId(origin, input, settings);
  if (origin.seed === undefined) return { id, ...copyValues(origin.from.environment, input) };
  const { image, path, format } = origin.seed;
  return { id, ...(image === undefined ? { secret: loadName(id) } : { image }), path, format };
}

/** The file of a seed in git; `undefined` for any other origin. */
function fileInGit({ seed }: Origin, load: string, { repositories }: ServiceInput): LoadFile | undefined {
  const repository = seed?.git && repositories[seed.git];
  if (repository === undefined || seed?.commit === undefined) return undefined;
  return { load, secret: loadName(load), repository, commit: seed.commit, path: seed.path.replace(/^[/]/, "") };
}

function loading(origin: Origin, environment: EphemeralEnvironment): Omit<PendingLoad, "job"> {
  const rest = isMadeAnew(environment) ? "the former database serves" : "everything else waits";
  if (origin.from !== undefined) {
    const { environment: source } = origin.from;
    return {
      reason: "Copying",
      message: `copying the database of environment '${source}'; ${rest} until that is done`,
    };
  }
  const { path, image, commit = "" } = origin.seed;
  const place = image === undefined ? `the backend's repository at commit ${commit.slice(0, 8)}` : `image '${image}'`;
  return { reason: "Seeding", message: `loading the seed ${path} of ${place}; ${rest} until it is loaded` };
}

/** The data that a database begins with: its seed, a copy, or none. */
export const firstData: FirstData = {
  writes: "database",
  pending(input, settings) {
    const { environment } = input;
    const origin = pendingOrigin(input, settings);
    if (origin !== undefined) {
      const id = loadId(origin, input, settings);
      const file = fileInGit(origin, id, input);
      const load = { job: loadName(id), ...loading(origin, environment) };
      return { ...load, ...present({ file, obstacle: obstacleTo(origin, file, input) }) };
    }
    return isMadeAnew(environment)
      ? { reason: "Starting", message: "making the database anew, without data" }
      : undefined;
  },

  problem(input, settings) {
    const { environment } = input;
    const isOpen = !environment.spec.suspended && !isMade(environment);
    if (!isOpen || mappingOf(input, settings) === undefined) return undefined;
    const why = "the chart has values of its own, and only the platform's layout";
    if (isMadeAnew(environment)) {
      const back = `set database.generation back to ${madeGeneration(environment)}`;
      return failed("SeedUnsupported", `${why} can make a database anew: ${back}`);
    }
    const { seed, from } = chosenOrigin(input, settings) ?? {};
    if (from !== undefined) {
      return failed("SeedUnsupported", `${why} can copy a database: remove database.from of the environment`);
    }
    if (seed === undefined) return undefined;
    const remedy = "remove database.seed of the environment, its config set or its Repository";
    return failed("SeedUnsupported", `${why} has a seed: ${remedy}`);
  },

  made(input, settings) {
    const { environment } = input;
    const isKnown = isMade(environment);
    if (isKnown && environment.status?.database?.made === true) return {};
    const generation = usedGeneration(environment);
    const origin = isKnown ? undefined : chosenOrigin(input, settings);
    const { file } = environment.status?.database ?? {};
    const made = { made: true, ...present({ ...origin, file }), ...(generation === 1 ? {} : { generation }) };
    return { database: made };
  },

  removed({ status }) {
    const { made, file } = status?.database ?? {};
    return made === true ? { database: { made: false, ...present({ file }) } } : {};
  },
};
