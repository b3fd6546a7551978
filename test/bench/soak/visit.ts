import { hostOf, requestThroughIngress } from "../ingress-request.ts";

/** The gate holds a request for a minute at most. */
const SILENCE_MS = 90_000;
/** Statuses of the application, of an ingress without an environment's pods, and of the gate. */
const ANSWERS = [200, 404, 502, 503, 504];

/**
 * Opens an environment's address; answers its status.
 *
 * @throws Error for silence, and for any other status
 */
export async function visit(name: string): Promise<number> {
  const { status } = await requestThroughIngress(hostOf(name), { silenceMs: SILENCE_MS });
  if (!ANSWERS.includes(status)) throw new Error(`it was answered ${status}`);
  return status;
}
