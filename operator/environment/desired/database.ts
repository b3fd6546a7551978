import type { Settings } from "../../../config/settings.ts";
import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import { Sensitive } from "../../../crds/sensitive.ts";

/** What the database is called: its Service, and the label that its pod carries as its component. */
export const DATABASE = "database";
/** The variable that tells pods all they need to log in. */
export const DATABASE_URL = "DATABASE_URL";
/** The role that owns the database, and the database itself. */
const OWNER = "app";
const PORT = 5432;

/** Whether the environment is to have a database: as its spec says, else as its config set does. */
export function wantsDatabase({ database }: EnvironmentSpec, configSet: ConfigSetSpec | undefined): boolean {
  return database?.provision ?? configSet?.database?.enabled ?? false;
}

/** The values of the chart's database; what the config set leaves open is as the settings say. */
export function databaseValues(configSet: ConfigSetSpec | undefined, { database }: Settings): Record<string, unknown> {
  const { version = database.version, sizeGi = database.sizeGi } = configSet?.database ?? {};
  const { image, storageClass } = database;
  return {
    ...{ image: `${image}:${version}`, user: OWNER, name: OWNER, sizeGi },
    ...(storageClass === undefined ? {} : { storageClass }),
  };
}

/** How pods log in: as the owner of the database, under the password's own rules of what a URL may hold. */
export function databaseUrl(password: Sensitive): Sensitive {
  const encoded = encodeURIComponent(password.reveal());
  return new Sensitive(`postgresql://${OWNER}:${encoded}@${DATABASE}:${PORT}/${OWNER}`);
}
