import type { Static, TSchema } from "typebox";
import type { Settings } from "../config/settings.ts";
import type { ErrorCode } from "../crds/errors.ts";
import type { Clock } from "../operator/kit/clock.ts";
import type { Log } from "../operator/kit/log.ts";
import type { ConfigSets } from "../operator/ports/config-sets.ts";
import type { Environments } from "../operator/ports/environments.ts";
import type { PlatformHealthCheck } from "../operator/ports/platform-health.ts";
import type { Repositories } from "../operator/ports/repositories.ts";
import type { SecretManager } from "../operator/ports/secret-manager.ts";
import type { Permission } from "./auth/access.ts";
import type { Caller } from "./auth/callers.ts";

/** What handlers work with. */
export interface Platform {
  readonly settings: Settings;
  readonly environments: Environments;
  readonly repositories: Repositories;
  readonly configSets: ConfigSets;
  readonly secretManager: Pick<SecretManager, "ensure" | "shared">;
  readonly health: PlatformHealthCheck;
  readonly clock: Clock;
  /** For what no reply says: refusals to be audited, and what goes wrong beside an answer. */
  readonly log: Log;
  /** The release, as health replies show it. */
  readonly version: string;
  /** Aborted when this process stops taking work: from then on it is not ready. */
  readonly stopping: AbortSignal;
}

/** A route's promise to its callers: all that is validated, documented and enforced is read from here. */
export interface Contract {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** v1 path below the base URL, parameters in braces; v2 has the same below `/api/v2`. */
  readonly path: `/api/${string}`;
  /** Unique in each version, for generated clients. */
  readonly operationId: string;
  readonly summary: string;
  readonly tag: "environments" | "health";
  /** Mandatory: a route without authentication has to say so. */
  readonly access: "public" | { readonly permission: Permission };
  /** `none` for health probes; `caller` counts a known caller by identity and an unknown one by address. */
  readonly rate: "caller" | "none";
  /**
   * How v2 answers: `wrapped` as `{status, data, timestamp}`, `same` as v1 does; `only`: wrapped, and this is no route of v1;
   * `other`: by a route of its own, which is `only`.
   */
  readonly v2: "wrapped" | "same" | "only" | "other";
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Whether the body may also be form-encoded, with the same field names. */
  readonly forms?: boolean;
  readonly reply: TSchema;
  /** Whether a reply says that the service can't serve now: it is then answered as unavailable. */
  readonly isUnavailable?: (reply: never) => boolean;
  /** What a change is about, by name or id: for the audit line. Every route that changes something says it. */
  readonly concerns?: (input: never) => string;
  /** The error codes it can answer. */
  readonly refusals: readonly ErrorCode[];
}

export const VERSIONS = ["v1", "v2"] as const;
export type Version = (typeof VERSIONS)[number];

/** The versions in which a route is served. */
export function versionsOf({ v2 }: Contract): readonly Version[] {
  if (v2 === "other") return ["v1"];
  return v2 === "only" ? ["v2"] : VERSIONS;
}

/** The path below the base URL in a version. */
export function versionedPath({ path }: Pick<Contract, "path">, version: Version): string {
  return version === "v1" ? path : path.replace(/^\/api\//, "/api/v2/");
}

type Value<S> = S extends TSchema ? Static<S> : undefined;

/** What a handler gets: validated, typed, and no request. */
export interface Input<C extends Contract> {
  readonly params: Value<C["params"]>;
  readonly query: Value<C["query"]>;
  readonly body: Value<C["body"]>;
  readonly caller: C["access"] extends "public" ? undefined : Caller;
}

/** A contract with the function that keeps it; `mount.ts` gives the function nothing that the contract did not check. */
export interface Route {
  readonly contract: Contract;
  readonly handle: (input: Input<never>, platform: Platform) => Promise<object> | object;
}

/** Makes a route: `route(contract)(handler)`, the handler typed by the contract. */
export function route<const C extends Contract>(contract: C) {
  return (
    handle: (input: Input<C>, platform: Platform) => Promise<Static<C["reply"]>> | Static<C["reply"]>,
  ): Route => ({
    contract,
    handle: handle as Route["handle"],
  });
}
