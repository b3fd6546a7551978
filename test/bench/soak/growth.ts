import { readdir, readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { clusterFolder } from "../../../deploy/local/folders.ts";
import { runningProcess } from "../../../deploy/local/processes/process.ts";
import { type ChildProgram, startProgram } from "../child-program.ts";
import { median } from "../table.ts";
import type { Verdict } from "../verdict.ts";

type Figure = Pick<Verdict, "figure" | "detail">;

export interface Growth {
  readonly memory: Figure;
  readonly handles: Figure;
}

interface Sample {
  readonly memoryMib: number;
  readonly handles: number;
}

const EVERY_MS = 1_000;
/** Parts of the time of which the first and the last are compared. */
const PARTS = 3;

/** A program that reads all environments each second, from now on. */
export function startReader() {
  const reader = startProgram<number>(new URL("./reader.ts", import.meta.url), { argument: {} });
  return {
    /**
     * Compares the operator's memory and handles at the end of a time with those at its begin, and both with the reader's.
     *
     * @throws Error when the operator ends meanwhile
     */
    compare: (lengthMs: number) => compared(reader, lengthMs),
    stop: () => reader.stop(),
  };
}

async function compared(reader: ChildProgram<number>, lengthMs: number): Promise<Growth> {
  const readerPid = await reader.ask("pid");
  const operator = await runningProcess(clusterFolder, "operator");
  if (operator === undefined) throw new Error("the operator does not run");
  const samples: { ours: Sample; plain: Sample }[] = [];
  for (const endMs = performance.now() + lengthMs; performance.now() < endMs; ) {
    const [ours, plain] = await Promise.all([operator.pid, readerPid].map(sampleOf));
    samples.push({ ours: ours as Sample, plain: plain as Sample });
    await pause(EVERY_MS);
  }
  const length = Math.ceil(samples.length / PARTS);
  const [first, last] = [samples.slice(0, length), samples.slice(-length)];
  const figureOf = (what: keyof Sample, unit: string): Figure => {
    const medianOf = (of: typeof samples, side: "ours" | "plain") => median(of.map((one) => one[side][what]));
    const growth = (side: "ours" | "plain") => medianOf(last, side) / medianOf(first, side);
    const shown = (side: "ours" | "plain") =>
      `${medianOf(first, side).toFixed(0)} → ${medianOf(last, side).toFixed(0)} ${unit}`;
    return {
      figure: growth("ours") / growth("plain"),
      detail: `operator ${shown("ours")}, reader ${shown("plain")}; medians of the first and last third of ${samples.length} s`,
    };
  };
  return { memory: figureOf("memoryMib", "MiB"), handles: figureOf("handles", "handles") };
}

/** @throws Error when the process has ended */
async function sampleOf(pid: number): Promise<Sample> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const kib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  return { memoryMib: kib / 1024, handles: (await readdir(`/proc/${pid}/fd`)).length };
}
