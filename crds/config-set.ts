import type { ConfigSetSpec, Quota } from "./config-set.schema.ts";
import { type Counted, GROUP, kindOf, type Namespaced, type Resource } from "./group.ts";
import { shortUid } from "./names.ts";
import { present } from "./present.ts";

export type { ComponentValues, ConfigSetSpec, Quota } from "./config-set.schema.ts";

/** Named values, variables, database and quota settings for environments; its generation is its version. */
export type ConfigSet = Resource<"ConfigSet", ConfigSetSpec, Namespaced & Counted & Managed>;

interface Managed {
  readonly managedFields?: readonly { readonly time?: string }[];
}

export const configSetKind = kindOf("ConfigSet", "configsets");

/** Label of stored versions: the name of their config set. */
export const CONFIG_SET_LABEL = `${GROUP}/config-set`;
/** Label of stored versions: their config set's UID, because names are reused. */
export const CONFIG_SET_UID_LABEL = `${GROUP}/config-set-uid`;
/** Annotation of an unused stored version: since when it is unused. */
export const UNUSED_SINCE_ANNOTATION = `${GROUP}/unused-since`;

/** A version of a config set: its spec at the generation `version`. */
export interface ConfigSetVersion {
  readonly name: string;
  readonly version: number;
  /** UID of the config set, because names are reused. */
  readonly uid: string;
  readonly spec: ConfigSetSpec;
}

/** Current version of a config set. */
export function currentVersion({ metadata, spec }: ConfigSet): ConfigSetVersion {
  return { name: metadata.name, version: metadata.generation, uid: metadata.uid, spec };
}

/** Name of a stored version; it differs for another config set of the same name. */
export function revisionName({ name, uid, version }: Omit<ConfigSetVersion, "spec">): string {
  return `${name}-${shortUid(uid)}-${version}`;
}

/** Quota for a ResourceQuota; `memory` limits use and requests. */
export function hardLimits({ cpu, memory, storage, pods }: Quota): Readonly<Record<string, string>> {
  return {
    ...present({
      "requests.cpu": cpu,
      "requests.memory": memory,
      "limits.memory": memory,
      "requests.storage": storage,
    }),
    ...(pods === undefined ? {} : { pods: String(pods) }),
  };
}

/** Variables that a config set reads from the secret manager, with its shared API keys if requested. */
export function referredVariables(spec: ConfigSetSpec, withSharedKeys: boolean): string[] {
  const { env = [], helmValues, sharedApiKeys = [] } = spec;
  const all = [...env, ...(helmValues?.backend?.env ?? []), ...(helmValues?.frontend?.env ?? [])];
  const shared = withSharedKeys ? sharedApiKeys : [];
  return [...all, ...shared].filter(({ secretRef }) => secretRef !== undefined).map(({ name }) => name);
}
