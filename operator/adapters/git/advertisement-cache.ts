import type { GitHttpResponse, HttpClient } from "isomorphic-git";
import { BoundedCache } from "../../kit/bounded-cache.ts";
import { objectFormatOf } from "./object-format.ts";
import { packetOf, payloadsOf } from "./packets.ts";
import { inOnePiece, isAdvertisementRequest, wholeBody } from "./smart-http.ts";

/** Capabilities that a host has gained since are known after this time. */
const TTL_SECONDS = 3_600;
const MOST_KEPT = 2_000;

/** Capabilities that decide how a command is written. */
interface Advertisement {
  /** `undefined` when unstated, which means SHA-1. */
  readonly objectFormat: string | undefined;
}

/**
 * Caches capability advertisements by the URL of the repository, so that a command is one request instead of two.
 *
 * In version 2 of git's protocol the advertisement is the same for every caller until the host or the repository is changed, and
 * names no refs: https://git-scm.com/docs/protocol-v2#_capability_advertisement. That of an older version brings the refs, and
 * is not cached.
 */
export class AdvertisementCache {
  readonly #known = new BoundedCache<Advertisement>({ ttlSeconds: TTL_SECONDS, mostKept: MOST_KEPT });

  /** Runs a command with the cached advertisement, if any. A failure removes it, so that the next command reads it again. */
  async run<T>(cloneUrl: string, http: HttpClient, command: (http: HttpClient) => Promise<T>): Promise<T> {
    try {
      return await command(this.#cached(cloneUrl, http));
    } catch (error) {
      this.#known.delete(cloneUrl);
      throw error;
    }
  }

  #cached(cloneUrl: string, http: HttpClient): HttpClient {
    const known = this.#known.get(cloneUrl);
    return {
      request: async (request) => {
        if (!isAdvertisementRequest(request)) return http.request(request);
        if (known !== undefined) return replyWith(known, request.url);
        const reply = await http.request(request);
        const body = await wholeBody(reply.body);
        if (isVersion2(body)) this.#known.set(cloneUrl, { objectFormat: objectFormatOf(body) });
        return { ...reply, body: inOnePiece(body) };
      },
    };
  }
}

/** The version comes after the service's name and a flush packet at the latest: https://git-scm.com/docs/http-protocol#_smart_clients */
const PACKETS_TO_VERSION = 3;

/** The line feed is optional: https://git-scm.com/docs/protocol-common#_pkt_line_format */
function isVersion2(body: Buffer): boolean {
  const first = payloadsOf(body).take(PACKETS_TO_VERSION);
  return first.some((payload) => /^version 2\n?$/.test(payload.toString("latin1")));
}

function replyWith({ objectFormat }: Advertisement, url: string): GitHttpResponse {
  const format = objectFormat === undefined ? [] : [`object-format=${objectFormat}\n`];
  const body = ["version 2\n", "ls-refs\n", ...format].map(packetOf).join("");
  return {
    url,
    method: "GET",
    statusCode: 200,
    statusMessage: "200",
    headers: { "content-type": "application/x-git-upload-pack-advertisement" },
    body: inOnePiece(Buffer.from(`${body}0000`)),
  };
}
