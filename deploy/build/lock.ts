import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { onCode } from "./error-codes.ts";
import { waitUntil } from "./wait.ts";

/** A machine-wide lock: its name, the awaited event for the error, and the deadline. */
export interface Lock {
  readonly name: string;
  /** A noun phrase for the error. */
  readonly what: string;
  readonly deadlineMs: number;
}

/**
 * Does the work while no other process on this machine holds the lock of that name. Fails when another one holds it beyond
 * the deadline.
 *
 * The lock is a socket in the kernel's abstract namespace (unix(7)): the kernel gives it to one process only and takes it
 * back when that one ends, for any reason. No stale file remains. Linux only.
 */
export async function withLock<T>({ name, what, deadlineMs }: Lock, work: () => Promise<T>): Promise<T> {
  let held: Server | undefined;
  const check = async () => {
    held = await take(`\0${name}`);
    return held !== undefined;
  };
  await waitUntil({ what, check, deadlineMs });
  try {
    return await work();
  } finally {
    held?.close();
  }
}

/** The listening socket, or undefined when the address is taken. */
function take(address: string): Promise<Server | undefined> {
  // No client is expected; a connection must not keep the server from closing.
  const server = createServer((connection) => connection.destroy()).listen(address);
  return once(server, "listening").then(() => server, onCode(["EADDRINUSE"], undefined));
}
