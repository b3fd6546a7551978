import type { Request, Response } from "express";

/** Browsers keep no cookie of more than 4,096 bytes, with its name and attributes. */
const CHUNK_CHARS = 3_800;
const CHUNK = new RegExp(`.{1,${CHUNK_CHARS}}`, "g");
/** More would not fit into a request's head. */
const MOST_CHUNKS = 3;

/** Attributes of a cookie. The prefix `__Host-`: no other host can set it, and it needs TLS (or loopback). */
export interface CookieSpec {
  readonly name: `__Host-${string}`;
  readonly sameSite: "Lax" | "Strict";
}

/** Value of a cookie, joined from its chunks; empty without one. */
export function readCookie(request: Request, { name }: CookieSpec): string {
  const sent = cookiesOf(request);
  const chunks = namesOf(name).map((one) => sent.get(one));
  const end = chunks.indexOf(undefined);
  return (end < 0 ? chunks : chunks.slice(0, end)).join("");
}

/**
 * Has the browser keep a value, in chunks if it is long, and drop leftover chunks.
 *
 * @returns false, with nothing set, when it is too long
 */
export function keepCookie(exchange: Exchange, spec: CookieSpec, value: string, seconds: number): boolean {
  const chunks = value.match(CHUNK) ?? [];
  if (chunks.length > MOST_CHUNKS) return false;
  const names = namesOf(spec.name);
  for (const [at, chunk] of chunks.entries()) append(exchange.response, spec, `${names[at]}=${chunk}`, seconds);
  forget(exchange, spec, names.slice(chunks.length));
  return true;
}

/** Has the browser drop all chunks of a cookie. */
export const dropCookie = (exchange: Exchange, spec: CookieSpec): void => forget(exchange, spec, namesOf(spec.name));

export interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

function forget({ request, response }: Exchange, spec: CookieSpec, names: readonly string[]): void {
  const sent = cookiesOf(request);
  for (const name of names) if (sent.has(name)) append(response, spec, `${name}=`, 0);
}

function append(response: Response, { sameSite }: CookieSpec, pair: string, seconds: number): void {
  response.append("Set-Cookie", `${pair}; Path=/; HttpOnly; Secure; SameSite=${sameSite}; Max-Age=${seconds}`);
}

const namesOf = (name: string) => [name, ...Array.from({ length: MOST_CHUNKS - 1 }, (_, at) => `${name}-${at + 1}`)];

/** https://www.rfc-editor.org/rfc/rfc6265#section-4.2.1; the first of several with one name counts. */
function cookiesOf({ headers }: Request): ReadonlyMap<string, string> {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim().split("="));
  return new Map(pairs.reverse().map(([name = "", ...value]) => [name, value.join("=")] as const));
}
