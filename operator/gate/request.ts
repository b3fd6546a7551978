import type { IncomingHttpHeaders } from "node:http";

/** Header by which parts of the gate know each other: on requests that it passes on, and on all of its answers. */
export const GATE_HEADER = "x-environment-gate";

/** Agent of the gate's own requests, to environments and to the API server. */
export const GATE_AGENT = "ephemeral-environments-gate";

/** The parts of a request that decide about its answer. */
export interface GateRequest {
  readonly method: string;
  /** Path with query, as it came. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Reading of a request. `page`: a browser that shows a page. `status`: the page, which asks how far it is. `passed`: one
 * that the gate itself passed on. `hold`: any other one, which waits for the application. `quiet`: it wakes nothing.
 */
export type Intent = "page" | "status" | "passed" | "hold" | "quiet";

const QUIET_PATHS = ["/robots.txt", "/favicon.ico"];
/** The platform's own programs. */
const OWN_AGENT = /^ephemeral-environments\b/;

/**
 * Intent of a request.
 *
 * @param isIgnoredAgent true for a `User-Agent` whose requests wake nothing
 */
export function intentOf(request: GateRequest, isIgnoredAgent: (agent: string) => boolean): Intent {
  const { method, headers } = request;
  const own = headers[GATE_HEADER];
  if (own === "passed") return "passed";
  if (own === "status") return "status";
  const agent = (headers["user-agent"] ?? "").slice(0, LONGEST_AGENT);
  const path = request.target.replace(/[?#].*$/s, "");
  const isQuiet = method === "HEAD" || QUIET_PATHS.includes(path) || OWN_AGENT.test(agent) || isIgnoredAgent(agent);
  if (isQuiet) return "quiet";
  return method === "GET" && isNavigation(headers) ? "page" : "hold";
}

const LONGEST_AGENT = 512;

/** Browsers ask for a page by `text/html`; scripts on a page by anything else. https://fetch.spec.whatwg.org/#http-accept */
function isNavigation({ accept = "", "sec-fetch-mode": mode = "navigate" }: IncomingHttpHeaders): boolean {
  return mode === "navigate" && accept.includes("text/html");
}

const HOST = /^([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)\.([a-z0-9.-]+?)\.?(?::[0-9]{1,5})?$/;
const LONGEST_HOST = 260;

/** Place that a Host header names. */
export interface NamedHost {
  /** Host without port. */
  readonly host: string;
  /** Name of the environment that has the host if it exists. */
  readonly environment: string;
}

/** Reads a Host header; `undefined` where it is no label below the base domain. */
export function namedHost(header: string | undefined, baseDomain: string): NamedHost | undefined {
  if (header === undefined || header.length > LONGEST_HOST) return undefined;
  const [, label = "", domain] = HOST.exec(header.toLowerCase()) ?? [];
  if (domain !== baseDomain) return undefined;
  const [environment = ""] = label.split("--");
  return { host: `${label}.${domain}`, environment };
}

/**
 * Client's address, for limits. Each of the proxies in front appends the address that it saw to X-Forwarded-For.
 *
 * @param hops number of trusted proxies
 */
export function clientAddress(headers: IncomingHttpHeaders, peer: string, hops: number): string {
  const forwarded = [headers["x-forwarded-for"] ?? []].flat().join(",").split(",");
  const known = [...forwarded.map((address) => address.trim()).filter((address) => address !== ""), peer];
  const address = known[Math.max(0, known.length - 1 - hops)] ?? peer;
  return networkOf(address.slice(0, LONGEST_ADDRESS));
}

const LONGEST_ADDRESS = 45;

/** An IPv6 client has at least a /64 to itself. */
function networkOf(address: string): string {
  return address.includes(":") && !address.startsWith("::ffff:") ? address.split(":").slice(0, 4).join(":") : address;
}
