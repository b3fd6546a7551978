import { setTimeout as pause } from "node:timers/promises";
import { read } from "../kubectl.ts";
import { namespace } from "./replicas.ts";

/** Interval of reads of the lease: a leader renews it every two seconds, and a released one stays free for half a second. */
const READ_EVERY_MS = 100;

/** One replica's time as the leader, according to the Lease. */
export interface Term {
  readonly holder: string;
  readonly acquiredMs: number;
  /** The last renewal, or the release. */
  readonly endedMs: number;
  /** Time without a renewal after which others may take the lease. */
  readonly durationSeconds: number;
}

interface LeaseSpec {
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string;
  readonly renewTime: string;
}

export async function leaseNow(): Promise<LeaseSpec> {
  return (await read<{ spec: LeaseSpec }>("lease", "platform", `--namespace=${namespace}`)).spec;
}

/** The leading pod; a holder is named by its pod and a random suffix. Empty without a leader. */
export async function leader(podNames: readonly string[]): Promise<string> {
  const { holderIdentity } = await leaseNow();
  return podNames.find((name) => holderIdentity.startsWith(name)) ?? "";
}

/** Follows the lease until the answered function is called, which answers the terms so far, including the current one. */
export function followLease(): () => Promise<readonly Term[]> {
  const ending = new AbortController();
  const terms: Term[] = [];
  const following = follow(terms, ending.signal);
  // It is awaited at the end; until then a failure must not count as unhandled.
  following.catch(() => undefined);
  return async () => {
    ending.abort();
    await following;
    return terms;
  };
}

async function follow(terms: Term[], signal: AbortSignal): Promise<void> {
  do {
    note(terms, await leaseNow());
    await pause(READ_EVERY_MS);
  } while (!signal.aborted);
}

/** Notes a state of the lease; without a holder it is released, which ends the last term. */
function note(
  terms: Term[],
  { holderIdentity: holder, leaseDurationSeconds, acquireTime, renewTime }: LeaseSpec,
): void {
  const last = terms.at(-1);
  const endedMs = Date.parse(renewTime);
  if (holder !== "" && holder !== last?.holder) {
    terms.push({ holder, acquiredMs: Date.parse(acquireTime), endedMs, durationSeconds: leaseDurationSeconds });
  } else if (last !== undefined) terms[terms.length - 1] = { ...last, endedMs };
}

/** Seconds between the end of each term and the beginning of the next. */
export function gaps(terms: readonly Term[]): readonly number[] {
  return terms.slice(1).map(({ acquiredMs }, index) => (acquiredMs - (terms[index]?.endedMs ?? 0)) / 1000);
}
