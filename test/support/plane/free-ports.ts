import { isPortFree } from "../../../deploy/local/network/ports.ts";

/**
 * Range of ports: below those of outgoing connections (IANA's from 49152, Linux's from 32768), so that none takes the port
 * of a restarting server; and above the local cluster's.
 */
const FIRST_PORT = 21_000;
const LAST_PORT = 29_999;
/** Distance between the search starts of processes with adjacent ids, so that they check different ports. */
const APART = 64;

let next = FIRST_PORT + ((process.pid * APART) % (LAST_PORT - FIRST_PORT + 1));

/**
 * Different, free loopback ports, `count` of them. Another program may take one before its use, which then fails with an
 * address in use.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let looked = FIRST_PORT; ports.length < count; looked += 1) {
    if (looked > LAST_PORT)
      throw new Error(`No ${count} ports from ${FIRST_PORT} to ${LAST_PORT} are free on loopback.`);
    const port = next;
    next = port === LAST_PORT ? FIRST_PORT : port + 1;
    if (await isPortFree(port)) ports.push(port);
  }
  return ports;
}
