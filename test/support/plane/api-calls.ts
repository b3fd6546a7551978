import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { text as textOf } from "node:stream/consumers";
import type { ControlPlane } from "./own-control-plane.ts";

/** The caller: a bearer token, or a user impersonated by an administrator. */
export type Identity = { readonly token: string } | { readonly user: string; readonly groups?: readonly string[] };

/** An answer of the API server; `message` is the text of an error, else empty. */
export interface Reply {
  readonly status: number;
  readonly message: string;
  // Tests read objects of every kind.
  readonly object: Record<string, unknown>;
}

/** Raw calls under one identity; errors are answers, because tests check them. */
export interface ApiCalls {
  get(path: string): Promise<Reply>;
  create(path: string, object: object): Promise<Reply>;
  /** A merge patch (RFC 7386). */
  patch(path: string, change: object): Promise<Reply>;
  replace(path: string, object: object): Promise<Reply>;
  delete(path: string, options?: object): Promise<Reply>;
}

/** The address of the API server, and the administrator's token. */
export type Callable = Pick<ControlPlane, "url" | "caFile" | "adminToken">;

/** Calls the API server as `identity`; unknown fields are refused, as with kubectl. */
export function callsAs(plane: Callable, identity: Identity): ApiCalls {
  const agent = new Agent({ ca: readFileSync(plane.caFile), keepAlive: true });
  const call = async (method: string, path: string, body?: object): Promise<Reply> => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const text = body === undefined ? "" : JSON.stringify(body);
    // Node sends the length of a DELETE's body only on request; the body would otherwise count as the next request.
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

/** An unknown or not yet served path is answered in plain text. */
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
