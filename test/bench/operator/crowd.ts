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

/** Creates copies of one of the operator's environments with a common due time; answers their names. */
export async function makeDue(bench: BenchWorld, { due }: CrowdSizes): Promise<readonly string[]> {
  const names = await copies(bench, "due", { count: due, ttlHours: DUE_TTL_HOURS });
  await reconcileCopies(bench);
  return names;
}

/** Creates environments up to the given number: copies of one that expires much later. */
export async function makeCrowd(bench: BenchWorld, { environments }: CrowdSizes): Promise<void> {
  const { items: known } = await bench.world.admin.list(environmentType, { metadataOnly: true });
  const count = Math.max(1, environments - known.length);
  await copies(bench, "crowd", { count, ttlHours: LONG_TTL_HOURS });
  await reconcileCopies(bench);
  progress(`${known.length + count} environments are reconciled`);
}

/** Runs an operator until every copy is reconciled: the first reconcile writes references to its UID, later ones write nothing. */
async function reconcileCopies(bench: BenchWorld): Promise<void> {
  progress("waiting for the API server's own controllers");
  await bench.untilQuiet();
  const operator = bench.startOperator();
  await operator.converged(DEADLINE_MS);
  await operator.stop();
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
