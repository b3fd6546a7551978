import type { Settings } from "../../../../config/settings.ts";
import { digestOf } from "../../../../crds/digest.ts";
import { desiredGeneration, madeGeneration } from "../../../../crds/environment/database-generation.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { present } from "../../../../crds/present.ts";
import { mappingOf } from "../../../../crds/repository/values-mapping.ts";
import type { Seed } from "../../../../crds/seed.schema.ts";
import type { FirstData, ServiceInput } from "./backing-service.ts";
import { databaseImage } from "./database-image.ts";

/** The seed that a database would be made with now: of the environment, else its config set, else its backend's Repository. */
function chosenSeed({ environment, configSet, repositories }: ServiceInput): Seed | undefined {
  return environment.spec.database?.seed ?? configSet?.database?.seed ?? repositories.backend?.spec.database?.seed;
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

/** The seed to load; none into a database that was made already, and none while nothing may run. */
function pendingSeed(input: ServiceInput): Seed | undefined {
  const { environment } = input;
  return isMade(environment) || environment.spec.suspended === true ? undefined : chosenSeed(input);
}

/**
 * Chart values for the data of the database: `claim` is its volume, `seeded` stays while it lives, `seed` until it is
 * loaded. Nothing needs the seed's image afterwards.
 */
export function dataValues(input: ServiceInput, settings: Settings): Readonly<Record<string, unknown>> {
  const { environment } = input;
  const generation = usedGeneration(environment);
  const isSeeded = (isMade(environment) ? environment.status?.database?.seed : chosenSeed(input)) !== undefined;
  const seed = pendingSeed(input);
  return {
    ...(generation === 1 ? {} : { claim: `database-${generation}` }),
    ...(isSeeded ? { seeded: true } : {}),
    ...(seed && { seed: { id: idOf(seed, input, settings), ...seed, seconds: settings.database.seedSeconds } }),
  };
}

/** Another Job for another seed, image or database, because Kubernetes changes no Job. */
function idOf(seed: Seed, input: ServiceInput, settings: Settings): string {
  const generation = usedGeneration(input.environment);
  return digestOf([seed, databaseImage(input, settings), ...(generation === 1 ? [] : [generation])], 8);
}

/** The data that a database begins with: its seed, or none. */
export const firstData: FirstData = {
  writes: "database",
  pending(input, settings) {
    const found = pendingSeed(input);
    if (found === undefined) {
      return isMadeAnew(input.environment) ? { message: "making the database anew, without data" } : undefined;
    }
    const { path, image } = found;
    // The name is of the chart's `seed.yaml`.
    const job = `database-seed-${idOf(found, input, settings)}`;
    const rest = isMadeAnew(input.environment) ? "the former database serves" : "everything else waits";
    return { job, message: `loading the seed ${path} of image '${image}'; ${rest} until it is loaded` };
  },

  problem(input, settings) {
    if (mappingOf(input, settings) === undefined) return undefined;
    const why = "the chart has values of its own, and only the platform's layout";
    if (isMadeAnew(input.environment)) {
      return `${why} can make a database anew: set database.generation back to ${madeGeneration(input.environment)}`;
    }
    if (pendingSeed(input) === undefined) return undefined;
    return `${why} has a seed: remove database.seed of the environment, its config set or its Repository`;
  },

  made(input) {
    const { environment } = input;
    const isKnown = isMade(environment);
    if (isKnown && environment.status?.database?.made === true) return {};
    const generation = usedGeneration(environment);
    const found = isKnown ? undefined : chosenSeed(input);
    return { database: { made: true, ...present({ seed: found }), ...(generation === 1 ? {} : { generation }) } };
  },

  removed: ({ status }) => (status?.database?.made === true ? { database: { made: false } } : {}),
};
