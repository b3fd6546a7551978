/**
 * Measures the start of the command line beside `node -e 0` in the same run: the processor time of both, in turns. The
 * command line prints its version and calls no platform.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { buildClients } from "../../deploy/clients/build.ts";
import { optionsOf, runBenchmark } from "./run-benchmark.ts";
import { median } from "./table.ts";

const file = resolve(import.meta.dirname, "../../clients/cli/dist/eenv.mjs");
/** A multiple of an empty program's start. */
const MOST_BESIDE_NODE = 2.5;

const { rounds } = optionsOf(
  { rounds: { value: "30", help: "starts of each" } },
  "The start of the command line is compared with that of an empty program.",
);

function startMs(args: readonly string[]): number {
  const beganMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return performance.now() - beganMs;
}

await runBenchmark(async () => {
  await buildClients();
  const measured = { empty: [] as number[], eenv: [] as number[], help: [] as number[] };
  for (let round = 0; round < Number(rounds); round += 1) {
    measured.empty.push(startMs(["-e", "0"]));
    measured.eenv.push(startMs([file, "version"]));
    measured.help.push(startMs([file, "create", "--help"]));
  }
  const [empty, eenv, help] = [measured.empty, measured.eenv, measured.help].map(median);
  const content = readFileSync(file);
  const size = `${(content.length / 1024).toFixed(0)} KiB, gzip ${(gzipSync(content).length / 1024).toFixed(0)} KiB`;
  const detail = `node -e 0: ${empty?.toFixed(0)} ms, eenv version: ${eenv?.toFixed(0)} ms, eenv create --help: ${help?.toFixed(0)} ms (medians); ${size}`;
  return [
    {
      what: "start of eenv beside node -e 0",
      unit: "x",
      limit: MOST_BESIDE_NODE,
      detail,
      figure: (eenv ?? 0) / (empty ?? 1),
    },
  ];
});
