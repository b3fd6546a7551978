import type { Static, TSchema } from "typebox";
import type { Settings } from "../config/settings.ts";
import type { ErrorCode } from "../crds/errors.ts";
import type { ApiTokens } from "../operator/ports/api-tokens.ts";
import type { Clock } from "../operator/ports/clock.ts";
import type { ConfigSets } from "../operator/ports/config-sets.ts";
import type { BranchHeads } from "../operator/ports/facade/branch-heads.ts";
import type { ChartTemplates } from "../operator/ports/facade/chart-templates.ts";
import type { DeployerLog } from "../operator/ports/facade/deployer-log.ts";
import type { Environments } from "../operator/ports/facade/environments.ts";
import type { PlatformHealthCheck } from "../operator/ports/facade/platform-health.ts";
import type { PodLogs } from "../operator/ports/facade/pod-logs.ts";
import type { RepositoryReloads } from "../operator/ports/facade/repository-reloads.ts";
import type { SharedCounters } from "../operator/ports/facade/shared-counters.ts";
import type { Log } from "../operator/ports/log.ts";
import type { Repositories } from "../operator/ports/repositories.ts";
import type { SecretManager } from "../operator/ports/secret-manager.ts";
import type { PasswordResets } from "./account/password-resets.ts";
import type { Permission } from "./auth/access.ts";
import type { Caller } from "./auth/callers.ts";
import type { UrlChecks } from "./environments/urls/url-checks.ts";
import type { RepositoryQuotas } from "./repositories/repository-quotas.ts";

/** What handlers work with. */
export interface Services {
  readonly settings: Settings;
  readonly environments: Environments;
  readonly repositories: Repositories;
  readonly repositoryReloads: RepositoryReloads;
  readonly branchHeads: BranchHeads;
  readonly configSets: ConfigSets;
  readonly chartTemplates: ChartTemplates;
  readonly apiTokens: ApiTokens;
  readonly secretManager: Pick<SecretManager, "ensure" | "remove" | "shared">;
  readonly health: PlatformHealthCheck;
  readonly passwordResets: PasswordResets;
  readonly urlChecks: UrlChecks;
  readonly quotas: RepositoryQuotas;
  readonly podLogs: PodLogs;
  readonly deployerLog: DeployerLog;
  /** Where replicas count requests together. */
  readonly counters?: SharedCounters | undefined;
  readonly clock: Clock;
  /** So many bytes that nobody can guess. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** For what no reply says: refusals to be audited, and what goes wrong beside an answer. */
  readonly log: Log;
  /** The release, as health replies show it. */
  readonly version: string;
  /** Aborted when this process stops taking work: from then on it is not ready. */
  readonly stopping: AbortSignal;
}

/** The groups of the documentation. */
export const TAGS = [
  "environments",
  "config-sets",
  "repositories",
  "tokens",
  "account",
  "helm",
  "demos",
  "health",
] as const;
export type Tag = (typeof TAGS)[number];

/**
 * Who may call: everybody; whoever proves an identity; whoever has the permission. With `proof`, an API token is not
 * enough: the person has to be here.
 */
export type Access = "public" | "authenticated" | { readonly permission: Permission; readonly proof?: "id_token" };

/** A reply as a text of another media type. */
export interface Representation {
  readonly type: string;
  readonly text: (reply: never) => string;
}

/** A route's promise to its callers: all that is validated, documented and enforced is read from here. */
export interface Contract {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** v1 path below the base URL, parameters in braces; v2 has the same below `/api/v2`. */
  readonly path: `/api/${string}`;
  /** Unique in each version, for generated clients. */
  readonly operationId: string;
  readonly summary: string;
  /** What it does, and what a caller has to know of it; in the words of the specification. */
  readonly description: string;
  readonly tag: Tag;
  /** Mandatory: a route without authentication has to say so. */
  readonly access: Access;
  /** `none` for health probes; `caller` counts a known caller by identity and an unknown one by address. */
  readonly rate: "caller" | "none";
  /** A budget of its own beside that, spent by every call from a client address. */
  readonly budget?: "passwordReset";
  /** Where replies are wrapped as `{status, data, timestamp}`; the handler and `reply` know nothing of it. */
  readonly envelope: "v2" | "always" | "never";
  /** The one version that has it; both when left out. */
  readonly only?: Version;
  readonly params?: TSchema;
  readonly query?: TSchema;
  /** Headers of its own, beside those of every request; by their names as people write them. */
  readonly headers?: TSchema;
  readonly body?: TSchema;
  /** Whether the body may also be form-encoded, with the same field names. */
  readonly forms?: boolean;
  readonly reply: TSchema;
  /**
   * Where the reply holds the id of something that has a path of its own: by that path, a JSON pointer into the reply,
   * such as `{ "/api/environments/{environment_id}": "/environment/id" }`. The document links the routes by it.
   */
  readonly links?: Readonly<Record<`/api/${string}}`, `/${string}`>>;
  /** Of a success; 200 when left out. */
  readonly status?: 200 | 201;
  /** Whether a reply says that the service can't serve now: it is then answered as unavailable. */
  readonly isUnavailable?: (reply: never) => boolean;
  /** What a change is about, by name or id: for the audit trail. Every route that changes something says it. */
  readonly auditTarget?: (input: never) => string;
  /** The reason that the caller gives for a change: for the audit trail, too. */
  readonly auditReason?: (input: never) => string | undefined;
  /** The error codes it can answer. */
  readonly refusals: readonly ErrorCode[];
  /** What it refuses beside them without a code of its own. */
  readonly refuses?: readonly ("not-found" | "conflict" | "unavailable")[];
  /** Whether it is answered as server-sent events, each with a `reply` as its data; never wrapped. */
  readonly events?: true;
  /** Another form of the reply, for callers whose `Accept` asks for its type; never wrapped. */
  readonly representation?: Representation;
}

export const VERSIONS = ["v1", "v2"] as const;
export type Version = (typeof VERSIONS)[number];

/** The versions in which a route is served. */
export function versionsOf({ only }: Contract): readonly Version[] {
  return only === undefined ? VERSIONS : [only];
}

/** Whether replies of that version are wrapped. */
export function isWrapped({ envelope }: Contract, version: Version): boolean {
  return envelope === "always" || (envelope === "v2" && version === "v2");
}

/** The path below the base URL in a version. */
export function versionedPath({ path }: Pick<Contract, "path">, version: Version): string {
  return version === "v1" ? path : path.replace(/^\/api\//, "/api/v2/");
}

/** One event of a stream. */
export interface ServerEvent<T> {
  /** What a client that comes again sends as `Last-Event-ID`. */
  readonly id: string;
  readonly data: T;
}

/** What a route of events answers: batches until the signal or their maker ends them, also empty ones. */
export type Events<T> = (signal: AbortSignal) => AsyncIterable<readonly ServerEvent<T>[]>;

type Reply<C extends Contract> = C["events"] extends true ? Events<Static<C["reply"]>> : Static<C["reply"]>;

type Value<S> = S extends TSchema ? Static<S> : undefined;

/** What a handler gets: validated, typed, and no request. */
export interface Input<C extends Contract> {
  readonly params: Value<C["params"]>;
  readonly query: Value<C["query"]>;
  readonly headers: Value<C["headers"]>;
  readonly body: Value<C["body"]>;
  readonly caller: C["access"] extends "public" ? undefined : Caller;
}

/** A contract with the function that keeps it; `mount.ts` gives the function nothing that the contract did not check. */
export interface Route {
  readonly contract: Contract;
  readonly handle: (input: Input<never>, platform: Services) => Promise<object> | object;
}

/** Makes a route: `route(contract)(handler)`, the handler typed by the contract. */
export function route<const C extends Contract>(contract: C) {
  return (handle: (input: Input<C>, platform: Services) => Promise<Reply<C>> | Reply<C>): Route => ({
    contract,
    handle: handle as Route["handle"],
  });
}
