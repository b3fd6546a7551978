/**
 * Measures the operator on its own control plane, beside plain clients that do the same work in the same run. It leaves
 * nothing behind.
 */
import { type Openings, optionsOf, runBenchmark } from "../run-benchmark.ts";
import { report, type Verdict } from "../verdict.ts";
import { createBenchWorld } from "./bench-world.ts";
import { measureBystanders } from "./bystanders.ts";
import { measureCreations } from "./creations.ts";
import { makeCrowd, makeDue } from "./crowd.ts";
import { measureExpiry } from "./expiry.ts";
import { measurePriority } from "./priority.ts";
import { measureReplicas } from "./replicas.ts";
import { measureBefore, measureRestarts } from "./restart.ts";
import { measureScrapes } from "./scrapes.ts";

const PARTS = ["creations", "bystanders", "restart", "scrapes", "replicas", "priority", "expiry"] as const;
const CROWDED: readonly Part[] = ["restart", "scrapes", "replicas", "priority", "expiry"];
const RESTARTS = { restarts: 3, calmMs: 10_000 };
type Part = (typeof PARTS)[number];

const options = optionsOf(
  {
    environments: { value: "10000", help: "how many there are for restart, scrapes, replicas, priority and expiry" },
    due: { value: "500", help: "how many of them are due at the same moment" },
    rounds: { value: "2", help: "rounds of bystanders; creations has six times as many, scrapes five times" },
    part: { value: PARTS.join(","), help: "what is measured" },
  },
  "Ten thousand take about eleven minutes, 6 GB of memory, and a machine that has nothing else to do.",
);
const parts = options.part.split(",") as Part[];
const unknown = parts.find((part) => !PARTS.includes(part));
if (unknown !== undefined) throw new TypeError(`'${unknown}' is not one of ${PARTS.join(", ")}`);

// The API server takes most of two processors, half of it for garbage collection after a restart's lists, which would delay
// all sides.
process.env.GOGC ??= "400";
await runBenchmark(measure);

async function measure({ open }: Openings): Promise<readonly Verdict[]> {
  const bench = await open(createBenchWorld());
  const rounds = Number(options.rounds);
  const verdicts: Verdict[] = [];
  const take = async (part: Part, work: () => Promise<readonly Verdict[]>) => {
    if (!parts.includes(part)) return;
    const began = performance.now();
    const found = await work();
    verdicts.push(...found);
    // A later part may fail: these figures are not lost then.
    process.stderr.write(`${part}, in ${((performance.now() - began) / 1000).toFixed(0)} s:\n${report(found)}\n`);
  };
  await take("creations", () =>
    measureCreations(bench, { rounds: 6 * rounds, warmUp: 4, single: 8, many: 64, blocks: 60 * rounds }),
  );
  await take("bystanders", async () => [await measureBystanders(bench, { rounds, each: 150, slow: 48 })]);
  if (!parts.some((part) => CROWDED.includes(part))) return verdicts;
  const sizes = { environments: Number(options.environments), due: Number(options.due) };
  const due = await makeDue(bench, sizes);
  const before = parts.includes("restart") ? await measureBefore(bench, RESTARTS) : undefined;
  await makeCrowd(bench, sizes);
  if (before !== undefined) await take("restart", () => measureRestarts(bench, before, RESTARTS));
  await take("scrapes", () => measureScrapes(bench, { rounds: 5 * rounds }));
  await take("replicas", () => measureReplicas(bench, { turns: 3 }));
  await take("priority", () => measurePriority(bench, { starts: 3, calm: 8 }));
  await take("expiry", async () => [await measureExpiry(bench, due)]);
  return verdicts;
}
