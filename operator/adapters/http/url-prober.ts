import type { ClientRequest, IncomingMessage } from "node:http";
import { request } from "node:https";
import pLimit from "p-limit";
import type { Clock } from "../../kit/time/clock.ts";
import type { ProbeResult, UrlProber } from "../../ports/url-prober.ts";
import { connection, type IngressSettings, isRefused, NOT_PUBLIC } from "./ingress-connection.ts";

const DEADLINE_MS = 5_000;
const BODY_LIMIT_BYTES = 64 * 1024;
const AT_ONCE = 64;
const INFORMATIONAL_LIMIT = 16;
/** By it the gate knows probes, which wake nothing. */
const AGENT = "ephemeral-environments-prober";

/** UrlProber port: one HTTPS request without redirects, bounded in time, bytes and number. */
export function httpsUrlProber(settings: IngressSettings, clock: Clock): UrlProber {
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

async function ask(url: URL, settings: IngressSettings): Promise<Outcome> {
  if (isRefused(url, settings)) return refusedAddress;
  return new Promise((settle) => {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const unreachable = (error: Error) => settle(unanswered(error, signal));
    const hungUp = () => unreachable(new Error("the connection ended before an answer"));
    const options = connection(url, settings);
    const headers = { ...options.headers, "user-agent": AGENT };
    const call = request(url, { ...options, headers, signal, agent: false }, (reply) => {
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

const refusedAddress: Outcome = {
  status: "unreachable",
  isAddressRefused: true,
  message: `its name leads to a private address (${NOT_PUBLIC})`,
};
