/**
 * Measures the operator on a control plane of its own, beside a plain client that makes the same objects: ratios of one
 * run, and what ten thousand environments cost. Nothing of it is left behind.
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { createBenchWorld } from "./bench-world.ts";
import { measureBystanders } from "./bystanders.ts";
import { measureCreations } from "./creations.ts";
import { measureCrowd } from "./crowd.ts";
import { report, type Verdict } from "./verdict.ts";

const usage = `Usage: main.ts [--environments N] [--due N] [--rounds N] [--part creations|bystanders|crowd]

  --environments N   the crowd (ENVIRONMENTS, default 10000)
  --due N            those of it that are due at the same moment (DUE, default 500)
  --rounds N         how often calm and troubled times take turns (ROUNDS, default 4); operator and plain client
                     do five times as often
  --part PART        one of the three measures (PART)
  --help             this text

Ten thousand take about ten minutes, 6 GB of memory, and a machine that has nothing else to do.
`;

const { values } = parseArgs({
  options: {
    environments: { type: "string", default: process.env.ENVIRONMENTS ?? "10000" },
    due: { type: "string", default: process.env.DUE ?? "500" },
    rounds: { type: "string", default: process.env.ROUNDS ?? "4" },
    part: { type: "string", ...(process.env.PART ? { default: process.env.PART } : {}) },
    help: { type: "boolean" },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const began = performance.now();
const rounds = Number(values.rounds);
const bench = await createBenchWorld();
const verdicts: Verdict[] = [];
try {
  const isWanted = (part: string) => values.part === undefined || values.part === part;
  if (isWanted("creations"))
    verdicts.push(...(await measureCreations(bench, { rounds: 5 * rounds, warmUp: 4, single: 4, many: 64 })));
  if (isWanted("bystanders")) verdicts.push(await measureBystanders(bench, { rounds, each: 100 }));
  if (isWanted("crowd")) {
    const sizes = {
      environments: Number(values.environments),
      due: Number(values.due),
      restarts: 3,
      calmMs: 20_000,
      dueAfterMs: 45_000,
    };
    verdicts.push(...(await measureCrowd(bench, sizes)));
  }
} finally {
  await bench.stop();
}
const load = loadavg().map((average) => average.toFixed(1));
console.log(report(verdicts));
console.log(`${((performance.now() - began) / 60_000).toFixed(1)} min; load averages at the end: ${load.join(", ")}`);
