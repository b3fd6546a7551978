import { ownDeveloper } from "./identity.ts";
import { site } from "./site.ts";

const DEADLINE_MS = 15_000;

/** The body of every error. */
export interface Problem {
  readonly detail: string;
  readonly status_code: number;
  readonly error_code?: string;
  readonly timestamp: string;
}

export interface Request {
  /** Sent as JSON; a string unchanged. */
  readonly body?: object | string;
  readonly type?: string;
  /** The bearer token; null sends none. Default: the file's own developer. */
  readonly token?: string | null;
}

export interface Reply<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** Calls the REST interface as a user. `path` begins below `/api`. Fails without an answer in JSON. */
export async function ask<T = Problem>(method: string, path: string, request: Request = {}): Promise<Reply<T>> {
  const { body, type = "application/json", token = ownDeveloper } = request;
  const reply = await fetch(`${site.apiUrl}/api${path}`, {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": type }),
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  return { status: reply.status, headers: reply.headers, body: (await reply.json()) as T };
}
