import type { Static, TSchema } from "typebox";
import type { Caller, Permission } from "./auth/access.ts";
import type { RouteError } from "./errors.ts";
import type { Services } from "./services.ts";

/** Groups of the documentation, one for each feature. */
export const TAGS = [
  "environments",
  "config-sets",
  "repositories",
  "tokens",
  "account",
  "webhooks",
  "helm",
  "demos",
  "observability",
  "insights",
  "health",
] as const;
export type Tag = (typeof TAGS)[number];

/** Permitted callers: all, authenticated ones, or those with the permission. `proof`: an API token is not enough. */
export type Access = "public" | "authenticated" | { readonly permission: Permission; readonly proof?: "id_token" };

export const VERSIONS = ["v1", "v2"] as const;
export type Version = (typeof VERSIONS)[number];

type Method = "get" | "post" | "put" | "patch" | "delete";
type Schema = TSchema | undefined;
type Value<S> = S extends TSchema ? Static<S> : undefined;

/** Input of a handler: validated and typed, and no request. */
export interface Input<A extends Access, Params, Query, Headers, Body> {
  readonly params: Value<Params>;
  readonly query: Value<Query>;
  readonly headers: Value<Headers>;
  readonly body: Value<Body>;
  readonly caller: A extends "public" ? undefined : Caller;
}

/** Text of another media type instead of JSON; never wrapped. */
interface Representation<R extends TSchema> {
  readonly type: string;
  /** The text, or its example beside `serve`. */
  text(reply: Static<R>): string;
  /** Serves a text from elsewhere than the reply. */
  serve?(services: Services): Promise<string>;
}

/**
 * Contract of a route, the source of its validation, documentation and enforcement. Defaults are omitted (`DEFAULTS`,
 * and those of `feature`).
 */
interface RouteSpec<
  A extends Access,
  P extends Schema,
  Q extends Schema,
  H extends Schema,
  B extends Schema,
  R extends TSchema,
> {
  /** Method and version 1 path, with parameters in braces; version 2 has it below `/api/v2`. */
  readonly endpoint: `${Uppercase<Method>} /api/${string}`;
  readonly summary: string;
  /** Effect, and facts for callers, in the specification's words. */
  readonly description: string;
  readonly access: A;
  readonly params?: P;
  readonly query?: Q;
  /** Own headers, in their usual spelling. */
  readonly headers?: H;
  /** Validated and typed; `rawBody(schema)` for original bytes. */
  readonly body?: B;
  readonly reply: R;
  /** Errors that don't follow from the rest. */
  readonly errors?: readonly RouteError[];
  readonly status?: 200 | 201;
  /** Unique in each version, for generated clients. Default: the name in `feature`. */
  readonly operationId?: string;
  /** Default: both. */
  readonly only?: Version;
  /**
   * `none` for health probes; `caller` counts a known caller by identity, others by address; `webhook` and `page` count
   * by address, each for itself, without credentials. With `sender` the handler states the sender by the body's
   * signature (`RawBody.countFor`), and its earlier refusals count as unauthenticated requests of the address.
   */
  readonly rate?: "caller" | "webhook" | "page" | "sender" | "none";
  readonly budget?: "passwordReset";
  /** Versions whose replies are wrapped as `{status, data, timestamp}`, outside of handler and `reply`. */
  readonly envelope?: "v2" | "always" | "never";
  /** True when the body may also be form-encoded. */
  readonly forms?: boolean;
  /**
   * Ids in the reply, by the path that they fit: a JSON pointer into the reply, such as `{
   * "/api/environments/{environment_id}": "/environment/id" }`. The document links the routes by it.
   */
  readonly links?: Readonly<Record<`/api/${string}}`, `/${string}`>>;
  /** Other form, for callers whose `Accept` prefers it. */
  readonly representation?: Representation<R>;
  /** True for server-sent events with `reply` as data. */
  readonly isStream?: boolean;
  /** True for a reply of an unavailable service: its status is then 503. */
  isUnavailable?(reply: Static<R>): boolean;
  /**
   * Target by name or id, for the audit trail. Every change is recorded (by default with its first path parameter),
   * reads only with a stated target.
   */
  auditTarget?(input: Input<A, P, Q, H, B>): string;
  /** Reason of the caller, for the audit trail. */
  auditReason?(input: Input<A, P, Q, H, B>): string | undefined;
}

/** One event of a stream. */
export interface ServerEvent<T> {
  /** Value of `Last-Event-ID` when a client reconnects. */
  readonly id: string;
  readonly data: T;
}

/** Batches of a stream's events, some empty, until the signal or the generator ends them. */
export type Events<T> = (signal: AbortSignal) => AsyncIterable<readonly ServerEvent<T>[]>;

export type RouteInput = Input<Access, Schema, Schema, Schema, Schema>;
type AnySpec = RouteSpec<Access, Schema, Schema, Schema, Schema, TSchema>;

const DEFAULTS = { rate: "caller", envelope: "v2", status: 200, errors: [], links: {}, isStream: false } as const;

type Stated = "operationId" | keyof typeof DEFAULTS;

/** Spec of a route with defaults and a split endpoint. */
export interface Contract extends Omit<AnySpec, "endpoint" | Stated>, Readonly<Required<Pick<AnySpec, Stated>>> {
  readonly method: Method;
  readonly path: `/api/${string}`;
  readonly tag: Tag;
}

/** A contract and its handler; `mount.ts` gives it only checked input. */
export interface Route {
  readonly contract: Contract;
  handle(input: RouteInput, services: Services): Promise<object> | object;
}

interface UnlistedRoute extends Pick<Route, "handle"> {
  readonly spec: AnySpec;
}

/** Makes a route: `route(spec)(handler)`, the handler typed by the spec. That of a stream answers `Events`. */
export function route<
  const A extends Access,
  R extends TSchema,
  P extends Schema = undefined,
  Q extends Schema = undefined,
  H extends Schema = undefined,
  B extends Schema = undefined,
  const S extends boolean = false,
>(spec: RouteSpec<A, P, Q, H, B, R> & { readonly isStream?: S }) {
  type Reply = S extends true ? Events<Static<R>> : Static<R>;
  return (handle: (input: Input<A, P, Q, H, B>, services: Services) => Promise<Reply> | Reply): UnlistedRoute => ({
    spec,
    handle,
  });
}

/**
 * Lists a feature's routes by their operation ids.
 *
 * @param tag the feature: the routes' group in the documentation
 * @param defaults of the feature's routes
 */
export function feature(
  tag: Tag,
  routes: Readonly<Record<string, UnlistedRoute>>,
  defaults: Pick<AnySpec, "envelope"> = {},
): readonly Route[] {
  return Object.entries(routes).map(([operationId, { spec, handle }]) => ({
    contract: { ...DEFAULTS, ...defaults, tag, operationId, ...addressed(spec) },
    handle,
  }));
}

/** Splits the endpoint, and adds a change's default audit target. */
function addressed({ endpoint, ...spec }: AnySpec) {
  const [verb = "", path = ""] = endpoint.split(" ");
  const method = verb.toLowerCase() as Method;
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? [];
  const firstParameter = ({ params }: RouteInput) => String((params as Record<string, unknown>)[parameter ?? ""]);
  const isNamedByPath = method !== "get" && parameter !== undefined;
  return { ...(isNamedByPath ? { auditTarget: firstParameter } : {}), ...spec, method, path: path as Contract["path"] };
}

/** Versions in which a route is served. */
export function versionsOf({ only }: Contract): readonly Version[] {
  return only === undefined ? VERSIONS : [only];
}

/** True when replies of that version are wrapped. */
export function isWrapped({ envelope, isStream }: Contract, version: Version): boolean {
  return !isStream && (envelope === "always" || (envelope === "v2" && version === "v2"));
}

/** Path below the base URL in a version. */
export function versionedPath({ path }: Contract, version: Version): string {
  return version === "v1" ? path : path.replace(/^\/api\//, "/api/v2/");
}
