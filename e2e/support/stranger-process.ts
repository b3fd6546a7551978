/** Becomes `nobody`, sends the requests on its standard input (a list of `Knock`), and prints the answers. */
import { connect } from "node:net";
import { json } from "node:stream/consumers";
import { connect as connectSecurely } from "node:tls";
import type { Knock } from "./stranger.ts";

const UNPRIVILEGED = 65_534;
const PATIENCE_MS = 5_000;

const knocks = (await json(process.stdin)) as readonly Knock[];
process.setgroups?.([UNPRIVILEGED]);
process.setgid?.(UNPRIVILEGED);
process.setuid?.(UNPRIVILEGED);
process.stdout.write(JSON.stringify(await Promise.all(knocks.map(knock))));

function knock({ at, tls = false, say }: Knock): Promise<string> {
  // The certificate is not verified: another user's program need not do that either.
  const connection = tls ? connectSecurely({ ...at, rejectUnauthorized: false }) : connect(at);
  return new Promise<string>((resolve) => {
    connection.setTimeout(PATIENCE_MS, () => resolve("silence"));
    connection.once("error", ({ code = "unknown" }: NodeJS.ErrnoException) => resolve(code));
    connection.once("close", () => resolve("closed"));
    connection.once("data", (bytes) => resolve(bytes.toString().split("\r\n", 1)[0] ?? ""));
    connection.once("connect", () => (say === undefined ? resolve("connected") : connection.write(say)));
  }).finally(() => connection.destroy());
}
