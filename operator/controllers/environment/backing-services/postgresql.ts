import { hasDatabase } from "../../../../crds/environment/ephemeral-environment.ts";
import { present } from "../../../../crds/present.ts";
import { DATABASE_LOGIN } from "../../../../crds/repository/repository.ts";
import { Sensitive } from "../../../../crds/sensitive.ts";
import type { BackingService } from "./backing-service.ts";
import { databaseImage } from "./database-image.ts";
import { dataValues, firstData } from "./first-data.ts";

/** Name of its Service, and component label of its pod. */
const NAME = "database";
const OWNER = "app";
const PORT = 5432;

const LOAD_AGAIN =
  "correct the seed, and name its image by another tag or digest, or give the environment a commit with it, or the version of the config set that has it (config_set_version); the same one is loaded again when the database is made anew (another database.generation)";
const COPY_AGAIN =
  "correct database.mask of the config set where a statement failed, and move this environment and its source to that version (config_set_version); it is copied again when the database is made anew (another database.generation)";

/** A PostgreSQL of one pod; the chart's templates are `database.yaml` and `seed.yaml`. */
export const postgresql: BackingService = {
  name: NAME,
  condition: "DatabaseReady",

  isDesired: ({ database }, configSet) => database?.provision ?? configSet?.database?.enabled ?? false,

  values(input, settings) {
    const { database } = settings;
    const { sizeGi = database.sizeGi } = input.configSet?.database ?? {};
    const image = databaseImage(input, settings);
    const values = { image, user: OWNER, name: OWNER, sizeGi, ...present({ storageClass: database.storageClass }) };
    return { ...values, ...dataValues(input, settings) };
  },

  secrets: [DATABASE_LOGIN],

  // A provided password may hold any character; a URL may not.
  derived: [
    {
      name: "DATABASE_URL",
      of: DATABASE_LOGIN.name,
      value: (password) =>
        new Sensitive(`postgresql://${OWNER}:${encodeURIComponent(password.reveal())}@${NAME}:${PORT}/${OWNER}`),
    },
  ],

  remedies: ({ spec }) => ({
    ImagePullFailed:
      "correct database.image of the settings or database.version of the config set in the version that the environment has, or the image of database.seed where the error below names that one, or give the cluster access to the registry",
    JobFailed: `${spec.database?.from === undefined ? LOAD_AGAIN : COPY_AGAIN}; a database that was there before serves on, and its generation goes back to it`,
    VolumeMissing:
      "install a default storage class with a provisioner, or name another class in the setting database.storageClass",
  }),

  reasons: ({ spec }) => ({ JobFailed: spec.database?.from === undefined ? "SeedFailed" : "CopyFailed" }),

  firstData,

  recorded: (environment) => ({ databaseProvisioned: hasDatabase(environment) }),
};
