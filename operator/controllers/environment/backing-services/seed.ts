import type { Settings } from "../../../../config/settings.ts";
import { findCondition } from "../../../../crds/conditions.ts";
import { digestOf } from "../../../../crds/digest.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { mappingOf } from "../../../../crds/repository/values-mapping.ts";
import type { Seed } from "../../../../crds/seed.schema.ts";
import type { FirstData, ServiceInput } from "./backing-service.ts";
import { databaseImage } from "./database-image.ts";

/** The seed that a database would be made with now: of the environment, else its config set, else its backend's Repository. */
function chosenSeed({ environment, configSet, repositories }: ServiceInput): Seed | undefined {
  return environment.spec.database?.seed ?? configSet?.database?.seed ?? repositories.backend?.spec.database?.seed;
}

/** True once there is a database. An older version of the platform has noted only that it is ready. */
function isMade({ status }: EphemeralEnvironment): boolean {
  const { status: ready, reason } = findCondition(status?.conditions, "DatabaseReady") ?? {};
  return status?.database?.made ?? (ready === "True" && reason === "Ready");
}

/** The seed to load; none into a database that was made already, and none while nothing may run. */
function pendingSeed(input: ServiceInput): Seed | undefined {
  const { environment } = input;
  return isMade(environment) || environment.spec.suspended === true ? undefined : chosenSeed(input);
}

/**
 * Chart values for the database's seed: `seeded` stays while the database lives, `seed` until it is loaded. Nothing needs
 * its image afterwards.
 */
export function seedValues(input: ServiceInput, settings: Settings): Readonly<Record<string, unknown>> {
  const { environment } = input;
  const isSeeded = (isMade(environment) ? environment.status?.database?.seed : chosenSeed(input)) !== undefined;
  const seed = pendingSeed(input);
  if (seed === undefined) return isSeeded ? { seeded: true } : {};
  const id = idOf(seed, databaseImage(input, settings));
  return { seeded: true, seed: { id, ...seed, seconds: settings.database.seedSeconds } };
}

/** Another Job for another seed or image, because Kubernetes changes no Job. */
const idOf = (seed: Seed, image: string) => digestOf([seed, image], 8);

/** The seed as the data that a database begins with. */
export const seed: FirstData = {
  writes: "database",
  pending(input, settings) {
    const found = pendingSeed(input);
    if (found === undefined) return undefined;
    const { path, image } = found;
    // The name is of the chart's `seed.yaml`.
    const job = `database-seed-${idOf(found, databaseImage(input, settings))}`;
    return { job, message: `loading the seed ${path} of image '${image}'; everything else starts when it is loaded` };
  },

  problem(input, settings) {
    if (pendingSeed(input) === undefined || mappingOf(input, settings) === undefined) return undefined;
    return "the chart has values of its own, and only the platform's layout has a seed: remove database.seed of the environment, its config set or its Repository";
  },

  made(input) {
    const { environment } = input;
    if (environment.status?.database?.made === true) return {};
    const found = isMade(environment) ? undefined : chosenSeed(input);
    return { database: { made: true, ...(found === undefined ? {} : { seed: found }) } };
  },

  removed: ({ status }) => (status?.database?.made === true ? { database: { made: false } } : {}),
};
