import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import type { BenchWorld } from "./bench-world.ts";
import { patternOf } from "./copies.ts";

export interface CrowdSizes {
  readonly environments: number;
  /** The number with a common due time. */
  readonly due: number;
}

const DEADLINE_MS = 900_000;
export const DUE_TTL_HOURS = 24;
const LONG_TTL_HOURS = 168;

/**
 * Creates environments up to the wanted number: copies of two of the operator's. Answers the names with a common due time.
 */
export async function makeCrowd(bench: BenchWorld, { environments, due }: CrowdSizes): Promise<readonly string[]> {
  const { items: known } = await bench.world.admin.list(environmentType, { metadataOnly: true });
  const names = await copies(bench, "due", { count: due, ttlHours: DUE_TTL_HOURS });
  const count = Math.max(1, environments - known.length - due);
  await copies(bench, "crowd", { count, ttlHours: LONG_TTL_HOURS });
  progress("waiting for the API server's own controllers");
  await bench.untilQuiet();
  // The first reconcile of a copy writes references to its UID; later ones write nothing.
  const operator = bench.startOperator();
  await operator.converged(DEADLINE_MS);
  await operator.stop();
  progress(`${environments} environments are reconciled`);
  return names;
}

async function copies(
  bench: BenchWorld,
  prefix: string,
  { count, ttlHours }: { count: number; ttlHours: number },
): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(6, "0")}`);
  const [first = "", ...others] = names;
  const operator = bench.startOperator();
  await bench.create(first, { ttlHours });
  await bench.ready.reached(first, DEADLINE_MS);
  await bench.world.reconcile(first);
  await operator.stop();
  await bench.untilQuiet();
  const pattern = await patternOf(bench.world.plane.etcdSocket, first);
  await pattern.copyTo(others);
  progress(`${count} copies of '${first}' were put into etcd`);
  return names;
}

const progress = (text: string) => process.stderr.write(`crowd: ${text}\n`);
