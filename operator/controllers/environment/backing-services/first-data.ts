import type { Settings } from "../../../../config/settings.ts";
import type { CopySource } from "../../../../crds/database-copy.schema.ts";
import { digestOf } from "../../../../crds/digest.ts";
import { desiredGeneration, madeGeneration } from "../../../../crds/environment/database-generation.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { present } from "../../../../crds/present.ts";
import { mappingOf } from "../../../../crds/repository/values-mapping.ts";
import type { Seed } from "../../../../crds/seed.schema.ts";
import { failed, type Unfinished } from "../step-result.ts";
import type { FirstData, PendingLoad, ServiceInput } from "./backing-service.ts";
import { copyProblem, copyValues } from "./database-copy.ts";
import { databaseImage } from "./database-image.ts";

/** The data that a database begins with: that of a file, or that of another environment. */
type Origin = { readonly seed: Seed; readonly from?: never } | { readonly from: CopySource; readonly seed?: never };

/** The origin of a database that is made now: of the environment, else its config set, else its backend's Repository. */
function chosenOrigin({ environment, configSet, repositories }: ServiceInput): Origin | undefined {
  const { seed: own, from } = environment.spec.database ?? {};
  if (from !== undefined) return { from };
  const seed = own ?? configSet?.database?.seed ?? repositories.backend?.spec.database?.seed;
  return seed && { seed };
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

/** Reason why the copy can't begin; a database that is to be made anew need not be. */
function obstacleTo({ from }: Origin, input: ServiceInput): Unfinished | undefined {
  const problem = from && copyProblem(from.environment, input);
  if (problem === undefined || !isMadeAnew(input.environment)) return problem;
  const back = `the former database serves, and stays with database.generation ${madeGeneration(input.environment)}`;
  return { ...problem, message: `${problem.message}; ${back}` };
}

/** The origin to load; none into a database that was made already, and none while nothing may run. */
function pendingOrigin(input: ServiceInput): Origin | undefined {
  return isMade(input.environment) || input.environment.spec.suspended === true ? undefined : chosenOrigin(input);
}

/**
 * Chart values for the data of the database: `claim` is its volume, `seeded` stays while it lives, `seed` until it is
 * loaded. Nothing needs its origin afterwards.
 */
export function dataValues(input: ServiceInput, settings: Settings): Readonly<Record<string, unknown>> {
  const { database } = input.environment.status ?? {};
  const generation = usedGeneration(input.environment);
  const origin = isMade(input.environment) ? (database?.seed ?? database?.from) : chosenOrigin(input);
  const load = loadOf(input, settings);
  return {
    ...(generation === 1 ? {} : { claim: `database-${generation}` }),
    ...(origin === undefined ? {} : { seeded: true }),
    ...(load && { seed: { ...load, seconds: settings.database.seedSeconds } }),
  };
}

/** Values of the Job. Another seed, mask, image or database is another Job, because Kubernetes changes none. */
function loadOf(input: ServiceInput, settings: Settings) {
  const origin = pendingOrigin(input);
  if (origin === undefined) return undefined;
  const generation = usedGeneration(input.environment);
  const what = origin.seed ?? copyValues(origin.from.environment, input);
  const id = digestOf([what, databaseImage(input, settings), ...(generation === 1 ? [] : [generation])], 8);
  return { id, ...what };
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
  const { path, image } = origin.seed;
  return { reason: "Seeding", message: `loading the seed ${path} of image '${image}'; ${rest} until it is loaded` };
}

/** The data that a database begins with: its seed, a copy, or none. */
export const firstData: FirstData = {
  writes: "database",
  pending(input, settings) {
    const { environment } = input;
    const origin = pendingOrigin(input);
    if (origin !== undefined) {
      // The name is of the chart's `seed.yaml`.
      const job = `database-seed-${loadOf(input, settings)?.id}`;
      return { job, ...loading(origin, environment), ...present({ obstacle: obstacleTo(origin, input) }) };
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
    const { seed, from } = chosenOrigin(input) ?? {};
    if (from !== undefined) {
      return failed("SeedUnsupported", `${why} can copy a database: remove database.from of the environment`);
    }
    if (seed === undefined) return undefined;
    const remedy = "remove database.seed of the environment, its config set or its Repository";
    return failed("SeedUnsupported", `${why} has a seed: ${remedy}`);
  },

  made(input) {
    const { environment } = input;
    const isKnown = isMade(environment);
    if (isKnown && environment.status?.database?.made === true) return {};
    const generation = usedGeneration(environment);
    const origin = isKnown ? undefined : chosenOrigin(input);
    return { database: { made: true, ...present({ ...origin }), ...(generation === 1 ? {} : { generation }) } };
  },

  removed: ({ status }) => (status?.database?.made === true ? { database: { made: false } } : {}),
};
