import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { Client } from "undici";
import { present } from "../../../crds/present.ts";
import { errorCode } from "../../kit/error-code.ts";
import { IngressTrafficUnavailable } from "../../ports/ingress-traffic.ts";

/** Bounds of each answer. */
export interface Bounds {
  readonly timeoutMs?: number;
  readonly answerLimitBytes?: number;
}

export const TIMEOUT_MS = 10_000;
const ANSWER_LIMIT_BYTES = 32 * 1024 * 1024;
const CONNECT_MS = 5_000;
/** https://undici.nodejs.org/#/docs/api/Errors */
const TOO_LONG = "UND_ERR_RES_EXCEEDED_MAX_SIZE";

interface Exchange extends Bounds {
  readonly url: URL;
  /** Name of the party, for messages. */
  readonly name: string;
  /** Connected to instead of the one that the URL's name leads to; the name still decides Host and certificate. */
  readonly address?: LookupAddress | undefined;
  /** CA of its certificate, in PEM. */
  readonly ca?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * Sends a GET over a connection of its own, and reads the body by `read`. Follows no redirect.
 *
 * @throws IngressTrafficUnavailable for each other answer than 200, and for none
 */
export async function exchange<T>(
  options: Exchange,
  read: (body: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  const {
    url,
    name,
    address,
    ca,
    headers = {},
    timeoutMs = TIMEOUT_MS,
    answerLimitBytes = ANSWER_LIMIT_BYTES,
  } = options;
  const client = new Client(url.origin, {
    allowH2: false,
    connect: { timeout: Math.min(timeoutMs, CONNECT_MS), ...present({ ca, lookup: address && only(address) }) },
    maxResponseSize: answerLimitBytes,
  });
  try {
    const path = url.pathname + url.search;
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)]);
    const { statusCode, body } = await client.request({ method: "GET", path, headers: { ...headers }, signal });
    if (statusCode !== 200) throw new IngressTrafficUnavailable(`${name} answered ${statusCode}`);
    return await read(body);
  } catch (cause) {
    if (cause instanceof IngressTrafficUnavailable) throw cause;
    const code = errorCode(cause);
    const problem = code === TOO_LONG ? `answered more than ${answerLimitBytes} bytes` : `does not answer (${code})`;
    throw new IngressTrafficUnavailable(`${name} ${problem}`, { cause });
  } finally {
    await client.destroy();
  }
}

function only(address: LookupAddress): LookupFunction {
  return (_hostname, { all }, callback) =>
    all ? callback(null, [address]) : callback(null, address.address, address.family);
}
