import type { ConfigSetSpec } from "./config-set.schema.ts";
import { type API_VERSION, GROUP, type Kind, VERSION } from "./group.ts";

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
