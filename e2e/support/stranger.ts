import { join } from "node:path";
import { run } from "./command.ts";

/** Somewhere on this machine, and what is said there. */
export interface Knock {
  /** The path of a Unix socket, or an address with its port. */
  readonly at: { readonly path: string } | { readonly host: string; readonly port: number };
  /** Through TLS, without a certificate and without a look at the other's. */
  readonly tls?: boolean;
  /** Without it, being let in is enough. */
  readonly say?: string;
}

const DEADLINE_MS = 60_000;

/**
 * Knocks as the user `nobody` at each of these places. The answers are the first lines of what came back, `connected`
 * where nothing was to be said, or the codes of the errors (`EACCES`, `ECONNREFUSED`, an alert of TLS), in that order.
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
