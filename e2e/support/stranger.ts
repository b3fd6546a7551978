import { join } from "node:path";
import { run } from "./command.ts";

/** A listener on this machine, and a request for it. */
export interface Knock {
  /** The path of a Unix socket, or an address with its port. */
  readonly at: { readonly path: string } | { readonly host: string; readonly port: number };
  /** Calls through TLS, without a client certificate and without verification. */
  readonly tls?: boolean;
  /** Absent: a connection is enough. */
  readonly say?: string;
}

const DEADLINE_MS = 60_000;

/**
 * Sends requests to these places as the user `nobody`. Answers, in order, the first lines of the replies, `connected` where
 * nothing was sent, or error codes (`EACCES`, `ECONNREFUSED`, a TLS alert).
 *
 * Only root can change its user.
 */
export async function knockAsNobody(knocks: readonly Knock[]): Promise<readonly string[]> {
  const script = join(import.meta.dirname, "stranger-process.ts");
  const input = JSON.stringify(knocks);
  const { code, stdout, stderr } = await run(process.execPath, { args: [script], input, deadlineMs: DEADLINE_MS });
  if (code !== 0) throw new Error(`knocking ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as readonly string[];
}
