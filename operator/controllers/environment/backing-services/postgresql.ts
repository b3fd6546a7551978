import { hasDatabase } from "../../../../crds/environment/ephemeral-environment.ts";
import { DATABASE_LOGIN } from "../../../../crds/repository/repository.ts";
import { Sensitive } from "../../../../crds/sensitive.ts";
import type { BackingService } from "./backing-service.ts";

/** Name of its Service, and component label of its pod. */
const NAME = "database";
const OWNER = "app";
const PORT = 5432;

/** A PostgreSQL of one pod; the chart's templates are `database.yaml` and `files/database.sh`. */
export const postgresql: BackingService = {
  name: NAME,
  condition: "DatabaseReady",

  isDesired: ({ database }, configSet) => database?.provision ?? configSet?.database?.enabled ?? false,

  values(configSet, { database }) {
    const { version = database.version, sizeGi = database.sizeGi } = configSet?.database ?? {};
    const { image, storageClass } = database;
    const values = { image: `${image}:${version}`, user: OWNER, name: OWNER, sizeGi };
    return storageClass === undefined ? values : { ...values, storageClass };
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

  remedies: {
    ImagePullFailed:
      "correct database.image of the settings or database.version of the config set, or give the cluster access to the registry",
    VolumeMissing:
      "install a default storage class with a provisioner, or name another class in the setting database.storageClass",
  },

  recorded: (environment) => ({ databaseProvisioned: hasDatabase(environment) }),
};
