/**
 * Measures the operator on its own control plane, beside plain clients that do the same work in the same run. It leaves
 * nothing behind.
 */
import { type Openings, optionsOf, runBenchmark } from "../run-benchmark.ts";
import type { Verdict } from "../verdict.ts";
import { createBenchWorld } from "./bench-world.ts";
import { measureBystanders } from "./bystanders.ts";
import { measureCreations } from "./creations.ts";
import { makeCrowd } from "./crowd.ts";
import { measureExpiry } from "./expiry.ts";
import { measureObservability } from "./observability.ts";
import { measurePriority } from "./priority.ts";
import { measureReplicas } from "./replicas.ts";
import { measureBefore, measureRestarts } from "./restart.ts";
import { measureScrapes } from "./scrapes.ts";

const PARTS = [
  "creations",
  "observability",
  "bystanders",
  "restart",
  "scrapes",
  "replicas",
  "priority",
  "expiry",
] as const;
const CROWDED: readonly Part[] = ["restart", "scrapes", "replicas", "priority", "expiry"];
const RESTARTS = { restarts: 4, calmMs: 20_000 };
type Part = (typeof PARTS)[number];

const options = optionsOf(
  {
    environments: { value: "10000", help: "how many there are for restart, scrapes, replicas, priority and expiry" },
    due: { value: "500", help: "how many of them are due at the same moment" },
    rounds: { value: "4", help: "rounds of bystanders; creations has five times as many, observability ten times" },
    part: { value: PARTS.join(","), help: "what is measured" },
  },
  "Ten thousand take about twenty minutes, 6 GB of memory, and a machine that has nothing else to do.",
);
const parts = options.part.split(",") as Part[];
const unknown = parts.find((part) => !PARTS.includes(part));
if (unknown !== undefined) throw new TypeError(`'${unknown}' is not one of ${PARTS.join(", ")}`);

// The API server takes most of two processors, half of it for garbage collection after a restart's lists, which would delay
// all sides.
process.env.GOGC ??= "400";
await runBenchmark(measure);

async function measure(openings: Openings): Promise<readonly Verdict[]> {
  const bench = await openings.open(createBenchWorld());
  const rounds = Number(options.rounds);
  const verdicts: Verdict[] = [];
  if (parts.includes("creations"))
    verdicts.push(...(await measureCreations(bench, { rounds: 5 * rounds, warmUp: 4, single: 4, many: 64 })));
  if (parts.includes("observability"))
    verdicts.push(...(await measureObservability(bench, { rounds: 10 * rounds, warmUp: 4, single: 16, many: 64 })));
  if (parts.includes("bystanders")) verdicts.push(await measureBystanders(bench, { rounds, each: 100, slow: 48 }));
  if (!parts.some((part) => CROWDED.includes(part))) return verdicts;
  const before = parts.includes("restart") ? await measureBefore(bench, RESTARTS) : undefined;
  const sizes = { environments: Number(options.environments), due: Number(options.due) };
  const due = await makeCrowd(bench, sizes);
  if (before !== undefined) verdicts.push(...(await measureRestarts(bench, before, RESTARTS)));
  if (parts.includes("scrapes")) verdicts.push(...(await measureScrapes(bench, { rounds: 5 * rounds })));
  if (parts.includes("replicas")) verdicts.push(...(await measureReplicas(bench, { turns: 3 })));
  if (parts.includes("priority")) verdicts.push(...(await measurePriority(bench, { starts: 3, each: 8 })));
  if (parts.includes("expiry")) verdicts.push(await measureExpiry(bench, due));
  return verdicts;
}
