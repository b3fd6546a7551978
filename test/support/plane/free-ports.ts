import { isPortFree } from "../../../deploy/local/network/ports.ts";

/**
 * Where ports are looked for: below those that systems give to outgoing connections (IANA's from 49152, Linux's from
 * 32768), so that none can take the port of a server while that is being restarted; and above the local cluster's own.
 */
const FIRST_PORT = 21_000;
const LAST_PORT = 29_999;
/** Processes with ids next to each other begin their search that far apart, so that they don't look at the same ports. */
const APART = 64;

let next = FIRST_PORT + ((process.pid * APART) % (LAST_PORT - FIRST_PORT + 1));

/**
 * So many loopback ports that nothing listens on, all different. Another program may take one before it is used, which
 * then shows as an address in use.
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
