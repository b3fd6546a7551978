/**
 * Repeats one test file while every processor is busy, and counts the failures of each test.
 * Usage: FILE=<path of a test file> TIMES=20 steady.ts
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { stateFolder } from "../deploy/build/folders.ts";
import { failuresOf, type Located, messageLines } from "./stages/closing.ts";
import { checkout, node } from "./stages/command.ts";
import { stageNamed } from "./stages/jest.ts";
import stages from "./stages/list.ts";
import { countOf, type Outcome } from "./stages/outcome.ts";
import { projectOf } from "./stages/projects.ts";
import { startStage } from "./stages/start-stage.ts";
import startPlanes from "./support/plane/control-plane-start.ts";
import stopPlanes from "./support/plane/control-plane-stop.ts";

const { FILE = "", TIMES = "20" } = process.env;
const file = relative(checkout, join(checkout, FILE));
const project = projectOf(file);
const times = Number(TIMES);
if (!file.endsWith(".test.ts") || project === undefined || !Number.isInteger(times) || times < 1) {
  console.error(
    'FILE is the path of one test file, such as test/ports/clock.test.ts, and TIMES a whole number: "make test-steady FILE=… TIMES=20"',
  );
  process.exit(2);
}

const logs = join(stateFolder, "test", "steady");
mkdirSync(logs, { recursive: true });
const logFile = join(logs, `${file.replaceAll("/", "-")}.log`);
const stage = stageNamed(project);
const list = new URL("stages/list.ts", import.meta.url).href;

const onPlanes = stages.some((group) => group.onPlanes && group.names.includes(stage));
if (onPlanes) await startPlanes();
const load = busyLoops();
const outcomes: Outcome[] = [];
try {
  for (let run = 1; run <= times; run++) {
    const started = startStage({
      list,
      names: [stage],
      files: [file],
      isWhole: false,
      inView: false,
      logFile,
      programLogs: logs,
    });
    started.endOfOthers();
    const { outcomes: found, seconds } = await started.ended;
    outcomes.push(...found);
    const { passed, failed } = countOf(found);
    console.log(`${run} of ${times}: ${passed} passed, ${failed} failed in ${seconds.toFixed(0)} s`);
  }
} finally {
  for (const child of load) child.kill();
  if (onPlanes) await stopPlanes();
}

const failures = Map.groupBy(failuresOf(outcomes), ({ title = "the whole file" }) => title);
console.log([...failures].map(([title, all]) => failedWords(title, all)).join("\n"));
console.log(failures.size === 0 ? `No test failed in ${times} runs.` : `The whole output is in ${logFile}`);
process.exitCode = failures.size === 0 && countOf(outcomes).passed > 0 ? 0 : 1;

function failedWords(title: string, all: readonly Located[]): string {
  return [`failed ${all.length} of ${times}: ${title}`, ...messageLines(all[0]?.message ?? "", 8)].join("\n");
}

/** A busy loop for each processor, at normal priority. They end with our process. */
function busyLoops(): ChildProcess[] {
  // The parent's end closes the script's standard input.
  const script =
    "process.stdin.on('close', () => process.exit()).resume(); setInterval(() => { const end = Date.now() + 90; while (Date.now() < end); }, 0)";
  return Array.from({ length: availableParallelism() }, () =>
    spawn(node, ["-e", script], { stdio: ["pipe", "ignore", "inherit"] }),
  );
}
