import { lookup as resolve } from "node:dns";
import type { ClientRequest, IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { BlockList, isIP, isIPv6, type LookupFunction } from "node:net";
import pLimit from "p-limit";
import { present } from "../../../crds/present.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { ProbeResult, UrlProber } from "../../ports/url-prober.ts";

const DEADLINE_MS = 5_000;
const BODY_LIMIT_BYTES = 64 * 1024;
const AT_ONCE = 64;
const INFORMATIONAL_LIMIT = 16;

export interface ProberSettings {
  /** Connected to, as `host:port` or `[address]:port`; the URL still decides SNI, Host and certificate. */
  readonly ingressAddress?: string | undefined;
  /** CA of the ingress certificate, in PEM; the system's by default. */
  readonly ca?: string | undefined;
}

/** UrlProber port: one HTTPS request without redirects, bounded in time, bytes and number. */
export function httpsUrlProber(settings: ProberSettings, clock: Clock): UrlProber {
  const limit = pLimit(AT_ONCE);
  return {
    probe: (url, path) =>
      limit(async () => {
        const startedMs = clock.monotonicMs();
        const outcome = await ask(withPath(url, path), settings);
        return { ...outcome, responseTimeMs: Math.round(clock.monotonicMs() - startedMs) };
      }),
  };
}

/** Not `new URL(path, url)`: a path such as `//169.254.169.254/` would replace the host. */
function withPath(url: string, path: string): URL {
  const own = new URL(url);
  own.pathname = path;
  return own;
}

type Outcome = Omit<ProbeResult, "responseTimeMs">;

async function ask(url: URL, settings: ProberSettings): Promise<Outcome> {
  const address = withoutBrackets(url.hostname);
  // An IP address is never resolved, so the check in the lookup would miss it.
  if (settings.ingressAddress === undefined && isIP(address) !== 0 && isInside(address)) return refusedAddress;
  return new Promise((settle) => {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const unreachable = (error: Error) => settle(unanswered(error, signal));
    const hungUp = () => unreachable(new Error("the connection ended before an answer"));
    const call = request(url, { ...connection(url, settings), signal, agent: false }, (reply) => {
      // The connection may close before its data is read.
      call.off("close", hungUp);
      read(reply).then(() => settle(outcomeOf(reply)), unreachable);
    });
    // Without this listener Node drops a connection that switches protocols, without a reply or an error.
    call.on("upgrade", (reply, socket) => {
      socket.destroy();
      settle(outcomeOf(reply));
    });
    call.on("error", unreachable);
    // Any other end of a call: the deadline ignores a closed one, and its slot would never be freed.
    call.on("close", hungUp);
    boundPromises(call);
    call.end();
  });
}

/** Ends a call with endless 1xx responses, which are as long as a body and slower to parse. */
function boundPromises(call: ClientRequest): void {
  let informational = 0;
  call.on("information", ({ statusCode }) => {
    informational += 1;
    if (informational > INFORMATIONAL_LIMIT) call.destroy(new Error(`it answered ${statusCode} again and again`));
  });
}

function connection(url: URL, { ingressAddress, ca }: ProberSettings): RequestOptions {
  const tls = { servername: url.hostname, ...present({ ca }) };
  if (ingressAddress === undefined) return { ...tls, lookup: publicAddressOnly };
  const colon = ingressAddress.lastIndexOf(":");
  return {
    ...tls,
    // Not `host`: the URL's own `hostname` would win.
    hostname: withoutBrackets(ingressAddress.slice(0, colon)),
    port: Number(ingressAddress.slice(colon + 1)),
    headers: { host: url.host },
  };
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

/** Reads to the end or the limit, against endless responses. */
async function read(reply: IncomingMessage): Promise<void> {
  let bytes = 0;
  for await (const chunk of reply) {
    bytes += (chunk as Buffer).length;
    if (bytes > BODY_LIMIT_BYTES) break;
  }
  reply.destroy();
}

function outcomeOf({ statusCode = 0 }: IncomingMessage): Outcome {
  const healthy = statusCode >= 200 && statusCode < 400;
  return { status: healthy ? "healthy" : "unhealthy", message: `it answered ${statusCode}` };
}

function unanswered(error: Error & { code?: string }, signal: AbortSignal): Outcome {
  if (signal.aborted) return { status: "unreachable", message: `no answer within ${DEADLINE_MS / 1000} s` };
  const code = error.code ?? error.message;
  if (code === NOT_PUBLIC) return refusedAddress;
  const flaw = certificateFlaw(code);
  if (flaw === undefined) return { status: "unreachable", message: code };
  return { status: "unreachable", isCertificateRefused: true, message: `${flaw} (${code})` };
}

/** Flaw of the certificate, by OpenSSL's code. https://nodejs.org/api/tls.html#x509-certificate-error-codes */
function certificateFlaw(code: string): string | undefined {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "its certificate is for another name";
  if (code === "CERT_HAS_EXPIRED") return "its certificate has expired";
  if (code === "CERT_NOT_YET_VALID") return "its certificate is not valid yet";
  if (/SELF_SIGNED|^UNABLE_TO_|^CERT_|^INVALID_CA$/.test(code)) return "its certificate is of an unknown authority";
  // The server aborts the handshake without a certificate for the name, or speaks no TLS.
  if (/^ERR_SSL_|^EPROTO$/.test(code)) return "it has no certificate for this name";
  return undefined;
}

const NOT_PUBLIC = "AddressNotPublic";
const refusedAddress: Outcome = {
  status: "unreachable",
  isAddressRefused: true,
  message: `its name leads to a private address (${NOT_PUBLIC})`,
};

function isInside(address: string): boolean {
  return inside.check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}

/**
 * Resolves for this connection and refuses internal addresses: an environment's URL must not lead to the metadata
 * service or the platform itself.
 */
const publicAddressOnly: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: false }, (error, address, family) => {
    if (error) return callback(error, "", 0);
    const refusal = Object.assign(new Error("the address is not public"), { code: NOT_PUBLIC });
    return isInside(address)
      ? callback(refusal, "", 0)
      : callback(null, options.all ? [{ address, family }] : address, family);
  });
};

/**
 * https://www.iana.org/assignments/iana-ipv4-special-registry/ and its IPv6 twin; mapped addresses are checked as IPv4.
 */
const inside = new BlockList();
for (const subnet of [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/3",
  "::/127",
  "64:ff9b::/96",
  "fc00::/7",
  "fe80::/10",
  "ff00::/8",
]) {
  const [net = "", prefix] = subnet.split("/");
  inside.addSubnet(net, Number(prefix), familyOf(net));
}
