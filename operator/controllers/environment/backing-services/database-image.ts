import type { Settings } from "../../../../config/settings.ts";
import type { ServiceInput } from "./backing-service.ts";

/** The database's image: its place of the settings, its version of the config set, if that names one. */
export function databaseImage({ configSet }: ServiceInput, { database }: Settings): string {
  return `${database.image}:${configSet?.database?.version ?? database.version}`;
}
