import type { HttpClient } from "isomorphic-git";
import { packetLength, packetOf, payloadsOf } from "./packets.ts";
import { inOnePiece, isAdvertisementRequest, wholeBody } from "./smart-http.ts";

/**
 * States the repository's object format in every command, as the capability advertisement names it.
 *
 * isomorphic-git omits it, and git then hangs up for every repository but a SHA-1 one:
 * https://git-scm.com/docs/protocol-v2#_object_format.
 */
export function statingObjectFormat(http: HttpClient): HttpClient {
  let format: string | undefined;
  return {
    async request(request) {
      if (!isAdvertisementRequest(request)) {
        const body = withObjectFormat(await wholeBody(request.body), format);
        return http.request({ ...request, body: inOnePiece(body) });
      }
      const reply = await http.request(request);
      const advertisement = await wholeBody(reply.body);
      format = objectFormatOf(advertisement);
      return { ...reply, body: inOnePiece(advertisement) };
    },
  };
}

const FORMAT = /object-format=(\w{1,16})/;
/** Capabilities come first: in version 2 one in each packet, in older ones all with the first ref. */
const PACKETS_OF_CAPABILITIES = 32;

/** Object format that an advertisement names; `undefined` when unstated, which means SHA-1. */
export function objectFormatOf(advertisement: Buffer): string | undefined {
  const first = payloadsOf(advertisement).take(PACKETS_OF_CAPABILITIES);
  const formats = first.map((payload) => FORMAT.exec(payload.toString("latin1"))?.[1]);
  return formats.find((format) => format !== undefined);
}

/** Adds the format to a request of protocol 2; a host that states none would refuse it. */
function withObjectFormat(question: Buffer, format: string | undefined): Buffer {
  if (format === undefined) return question;
  const afterCommand = packetLength(question, 0);
  return Buffer.concat([
    question.subarray(0, afterCommand),
    Buffer.from(packetOf(`object-format=${format}\n`)),
    question.subarray(afterCommand),
  ]);
}
