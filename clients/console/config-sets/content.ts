import type { ConfigSet, ConfigSetContent } from "../../sdk/index.ts";

/** Replaceable content of a config set; empty parts are left out, so that the text is short. */
export function contentOf(set: ConfigSet): ConfigSetContent {
  const {
    description,
    production,
    helm_values,
    env,
    shared_api_keys,
    database,
    quota,
    ttl_default_hours,
    sleep,
    access,
  } = set;
  const parts = {
    description,
    production,
    helm_values,
    env,
    shared_api_keys,
    database,
    quota,
    ttl_default_hours,
    sleep,
    access,
  };
  return Object.fromEntries(Object.entries(parts).filter(([field, value]) => !isEmpty(value) || isNever(field, value)));
}

/** An empty sleep is said, too: never. */
const isNever = (field: string, value: unknown) => field === "sleep" && value !== undefined;

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === "" || value === false) return true;
  return typeof value === "object" && value !== null && Object.values(value).every(isEmpty);
}
