import type { ConfigSet, ConfigSetContent } from "../../sdk/index.ts";

/** Replaceable content of a config set; absent and empty parts are left out, so that the text is short. */
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
  const isLeftOut = (field: string, value: unknown) => isDefault(value) || (isEmpty(value) && field !== "sleep");
  return Object.fromEntries(Object.entries(parts).filter(([field, value]) => !isLeftOut(field, value)));
}

/** True for a whole part that nothing says; an empty sleep says never. */
const isDefault = (value: unknown) => value === undefined || value === "" || value === false;

/** True where no value is set; `false` and "" are values, which saving must not remove. */
function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.values(value).every(isEmpty);
}
