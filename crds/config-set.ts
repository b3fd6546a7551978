import type { ConfigSetSpec } from "./config-set.schema.ts";
import { type API_VERSION, GROUP, type Kind, VERSION } from "./group.ts";
import { shortUid } from "./names.ts";

export type { ComponentValues, ConfigSetSpec, Quota } from "./config-set.schema.ts";

/** A named set of values, variables, database and quota settings that environments are made with. */
export interface ConfigSet {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: "ConfigSet";
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    /** Its version: it rises with every change of the spec. */
    readonly generation: number;
    readonly creationTimestamp: string;
    readonly annotations?: Readonly<Record<string, string>>;
    /** Who changed which field when. */
    readonly managedFields?: readonly { readonly time?: string }[];
  };
  readonly spec: ConfigSetSpec;
}

export const configSetKind = {
  group: GROUP,
  version: VERSION,
  kind: "ConfigSet",
  plural: "configsets",
  namespaced: true,
} as const satisfies Kind;

/** On every kept version: the name of its config set. */
export const CONFIG_SET_LABEL = `${GROUP}/config-set`;
/** Beside it: which config set of that name, if there was more than one. */
export const CONFIG_SET_UID_LABEL = `${GROUP}/config-set-uid`;
/** On a kept version that no environment needs any more: since when. */
export const UNUSED_SINCE_ANNOTATION = `${GROUP}/unused-since`;

/** A version of a config set: what it said when its generation was `version`. */
export interface ConfigSetVersion {
  readonly name: string;
  readonly version: number;
  /** The config set's own, which tells it from another one of its name. */
  readonly uid: string;
  readonly spec: ConfigSetSpec;
}

/** The version that a config set is now. */
export function currentVersion({ metadata, spec }: ConfigSet): ConfigSetVersion {
  return { name: metadata.name, version: metadata.generation, uid: metadata.uid, spec };
}

/** What a version is kept as; a config set made anew under the name never gets the same. */
export function revisionName({ name, uid, version }: Omit<ConfigSetVersion, "spec">): string {
  return `${name}-${shortUid(uid)}-${version}`;
}

/** The variables that a config set reads from the secret manager; its shared API keys only for those who ask for them. */
export function referredVariables(spec: ConfigSetSpec, withSharedKeys: boolean): string[] {
  const { env = [], helmValues, sharedApiKeys = [] } = spec;
  const all = [...env, ...(helmValues?.backend?.env ?? []), ...(helmValues?.frontend?.env ?? [])];
  const shared = withSharedKeys ? sharedApiKeys : [];
  return [...all, ...shared].filter(({ secretRef }) => secretRef !== undefined).map(({ name }) => name);
}
