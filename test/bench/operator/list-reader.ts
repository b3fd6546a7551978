/**
 * A plain client that reads the lists of its argument as streams, decodes every line and keeps none: the least work of a
 * process that reads every object.
 */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { answerParent } from "../answer-parent.ts";
import type { ReaderOptions, ReadLists } from "./plain-lists.ts";

const { url, caFile, token, paths }: ReaderOptions = JSON.parse(process.argv[2] ?? "{}");
const ca = readFileSync(caFile);
let bytes = 0;
let objects = 0;

const reading = Promise.all(paths.map(read)).then((): ReadLists => {
  const { user, system } = process.cpuUsage();
  return { doneAtMs: Date.now(), cpuSeconds: (user + system) / 1e6, bytes, objects };
});
answerParent(() => reading);

async function read(path: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
  const requested = request(url + path, { ca, headers }).end();
  const [response] = (await once(requested, "response")) as [IncomingMessage];
  for await (const line of lines(response)) {
    const { type, object } = JSON.parse(line);
    objects += 1;
    const isEnd = type === "BOOKMARK" && object.metadata.annotations?.["k8s.io/initial-events-end"] === "true";
    if (isEnd) return void requested.destroy();
  }
  throw new Error(`${path} was answered ${response.statusCode} and ended before all came`);
}

async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let open: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    bytes += chunk.length;
    open = open.length === 0 ? chunk : Buffer.concat([open, chunk]);
    let start = 0;
    for (let end = open.indexOf(10); end >= 0; end = open.indexOf(10, start)) {
      yield open.toString("utf8", start, end);
      start = end + 1;
    }
    open = open.subarray(start);
  }
}
