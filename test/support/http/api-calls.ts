import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { text as textOf } from "node:stream/consumers";
import type { ControlPlane } from "../plane/own-control-plane.ts";

/** Who calls: a bearer token, or somebody whom an administrator impersonates. */
export type Identity = { readonly token: string } | { readonly user: string; readonly groups?: readonly string[] };

/** What the API server answered; `message` is a refusal's own words, else empty. */
export interface Reply {
  readonly status: number;
  readonly message: string;
  // A test looks into objects of every kind; their types would be the API server's.
  readonly object: Record<string, unknown>;
}

/** Raw calls under one identity; nothing is thrown for a refusal, because refusals are what tests look at. */
export interface ApiCalls {
  get(path: string): Promise<Reply>;
  create(path: string, object: object): Promise<Reply>;
  /** A merge patch (RFC 7386). */
  patch(path: string, change: object): Promise<Reply>;
  replace(path: string, object: object): Promise<Reply>;
  delete(path: string, options?: object): Promise<Reply>;
}

/** Where to call, and the administrator's token. */
export type Callable = Pick<ControlPlane, "url" | "caFile" | "adminToken">;

/** Calls the API server as `identity`; unknown fields are refused, as kubectl asks for. */
export function callsAs(plane: Callable, identity: Identity): ApiCalls {
  const agent = new Agent({ ca: readFileSync(plane.caFile), keepAlive: true });
  const call = async (method: string, path: string, body?: object): Promise<Reply> => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const text = body === undefined ? "" : JSON.stringify(body);
    // Node tells the length of a DELETE's body only when it is told to, and the rest would be the next request.
    const length = { "content-type": type, "content-length": Buffer.byteLength(text) };
    const headers = { ...credentials(plane, identity), ...length };
    const url = new URL(path, plane.url);
    if (method !== "GET" && method !== "DELETE") url.searchParams.set("fieldValidation", "Strict");
    const outgoing = request(url, { agent, method, headers, signal: AbortSignal.timeout(20_000) });
    outgoing.end(text);
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    const status = incoming.statusCode ?? 0;
    const object = parsed(await textOf(incoming), incoming);
    return { status, object, message: status < 400 ? "" : String(object.message) };
  };
  return {
    get: (path) => call("GET", path),
    create: (path, object) => call("POST", path, object),
    patch: (path, change) => call("PATCH", path, change),
    replace: (path, object) => call("PUT", path, object),
    delete: (path, options) => call("DELETE", path, options),
  };
}

/** A path of no kind, or of one that is not served yet, is refused in plain text. */
function parsed(text: string, { headers }: IncomingMessage): Record<string, unknown> {
  return headers["content-type"]?.includes("json") ? JSON.parse(text) : { message: text.trim() };
}

function credentials(plane: Callable, identity: Identity): Record<string, string | string[]> {
  if ("token" in identity) return { authorization: `Bearer ${identity.token}` };
  return {
    authorization: `Bearer ${plane.adminToken}`,
    "impersonate-user": identity.user,
    "impersonate-group": [...(identity.groups ?? []), "system:authenticated"],
  };
}
