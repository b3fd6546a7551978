import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import startPlanes from "../support/plane/control-plane-start.ts";
import stopPlanes from "../support/plane/control-plane-stop.ts";
import { closingLines, failuresOf, type Located } from "./closing.ts";
import { countOf, type Outcome } from "./outcome.ts";
import type { StageGroup } from "./stage.ts";
import { type StartedStage, startStage } from "./start-stage.ts";

export interface RunOptions {
  /** The URL of the module whose default export is the groups of stages. */
  readonly list: string;
  /** The stages to run; empty: all. */
  readonly requested: readonly string[];
  /** The parent of each run's folder, with the whole output of every stage. */
  readonly logsFolder: string;
}

/** Most files that run again: with more, a busy machine is no explanation, and the run has failed. */
const MOST_UNSTEADY = 5;
const RUNS_KEPT = 5;

/**
 * Runs the stages in order, some concurrently with later ones, and every stage also after a failure. Failed files that wait
 * for real programs run once more, alone, at the end. Prints failures last, and answers true without any.
 */
export async function runStages({ list, requested, logsFolder }: RunOptions): Promise<boolean> {
  const { default: groups } = (await import(list)) as { default: readonly StageGroup[] };
  const chosen = groups
    .map((group) => ({
      ...group,
      names: group.names.filter((name) => requested.length === 0 || requested.includes(name)),
    }))
    .filter(({ names }) => names.length > 0);
  const logs = newFolder(logsFolder);
  const run = new StageRun(list, logs, requested.length === 0);
  const first = await run.all(chosen);
  const { outcomes, unsteady } = await run.again(chosen, first);
  console.log(closingLines({ outcomes, unsteady, logs }).join("\n"));
  const { passed, failed } = countOf(outcomes);
  return failed === 0 && passed > 0;
}

class StageRun {
  readonly #list: string;
  readonly #logs: string;
  readonly #isWhole: boolean;

  constructor(list: string, logs: string, isWhole: boolean) {
    this.#list = list;
    this.#logs = logs;
    this.#isWhole = isWhole;
  }

  /** Runs the groups; answers all outcomes. */
  async all(groups: readonly StageGroup[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    let aside: { readonly group: StageGroup; readonly stage: StartedStage } | undefined;
    const endAside = async () => {
      if (aside === undefined) return;
      const { group, stage } = aside;
      aside = undefined;
      await stage.ended;
      stage.show();
      outcomes.push(...(await this.#ended(group.names, stage, undefined)));
    };
    for (const group of groups) {
      if (group.onPlanes) await this.#startPlanes();
      if (group.isAside) await endAside();
      if (group.isAside && group !== groups.at(-1)) aside = { group, stage: this.#start(group, { inView: false }) };
      else outcomes.push(...(await this.#inView(group)));
    }
    await stopPlanes();
    aside?.stage.endOfOthers();
    await endAside();
    return outcomes;
  }

  /** Repeats failed files of groups that allow it, alone; their new outcomes replace the first ones. */
  async again(
    groups: readonly StageGroup[],
    outcomes: readonly Outcome[],
  ): Promise<{ outcomes: readonly Outcome[]; unsteady: readonly Located[] }> {
    const mayRunAgain = groups.filter(({ runsAgain }) => runsAgain).flatMap(({ names }) => names);
    const failed = outcomes.filter(
      ({ stage, file, failures }) => file !== undefined && failures.length > 0 && mayRunAgain.includes(stage),
    );
    if (failed.length === 0) return { outcomes, unsteady: [] };
    if (failed.length > MOST_UNSTEADY) {
      console.log(`\nmore than ${MOST_UNSTEADY} files failed: none runs again\n`);
      return { outcomes, unsteady: [] };
    }
    console.log(`\nonce more, alone: ${failed.map(({ file }) => file).join(", ")}\n`);
    const second: Outcome[] = [];
    for (const group of groups) {
      const own = failed.filter(({ stage }) => group.names.includes(stage));
      if (own.length === 0) continue;
      const names = group.names.filter((name) => own.some(({ stage }) => stage === name));
      const files = own.flatMap(({ file }) => file ?? []);
      if (group.onPlanes) await this.#startPlanes();
      second.push(...(await this.#inView({ ...group, names }, files)));
      await stopPlanes();
    }
    return replaced(outcomes, failed, second);
  }

  async #inView(group: StageGroup, files?: readonly string[]): Promise<readonly Outcome[]> {
    const before = processorSeconds();
    const stage = this.#start(group, { inView: true, files });
    // No other stage runs beside it.
    stage.endOfOthers();
    return this.#ended(group.names, stage, before);
  }

  #start({ names }: StageGroup, { inView, files }: { inView: boolean; files?: readonly string[] | undefined }) {
    const name = `${names.join("-and-")}${files === undefined ? "" : "-again"}`;
    return startStage({
      list: this.#list,
      names,
      inView,
      isWhole: this.#isWhole,
      logFile: join(this.#logs, `${name}.log`),
      programLogs: join(this.#logs, name),
      ...(files === undefined ? {} : { files }),
    });
  }

  /** Waits for a stage's end and reports it; with the processors' time before it, also their load meanwhile. */
  async #ended(
    names: readonly string[],
    stage: StartedStage,
    before: ProcessorSeconds | undefined,
  ): Promise<readonly Outcome[]> {
    const { outcomes, seconds } = await stage.ended;
    const { passed, failed, skipped } = countOf(outcomes);
    const count = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    console.log(`\n== ${names.join(", ")}: ${count} in ${seconds.toFixed(0)} s${busyWords(before)}\n`);
    return outcomes;
  }

  /** A stage without planes repeats the error. */
  async #startPlanes(): Promise<void> {
    process.env.PROGRAM_LOGS = join(this.#logs, "control-planes");
    await startPlanes().catch((error: Error) => console.error(error.message));
  }
}

function replaced(outcomes: readonly Outcome[], failed: readonly Outcome[], second: readonly Outcome[]) {
  const isMissing = (one: Outcome) => !second.some(({ file }) => file === one.file);
  const kept = outcomes.filter((one) => !failed.includes(one) || isMissing(one));
  const steady = second.filter(({ failures }) => failures.length === 0).map(({ file }) => file);
  return {
    outcomes: [...kept, ...second],
    unsteady: failuresOf(failed.filter(({ file }) => steady.includes(file))),
  };
}

interface ProcessorSeconds {
  readonly user: number;
  readonly system: number;
  readonly idle: number;
}

/** Working seconds of all of this machine's processors; `undefined` without the kernel's statistics. */
function processorSeconds(): ProcessorSeconds | undefined {
  if (process.platform !== "linux") return undefined;
  // https://www.kernel.org/doc/html/latest/filesystems/proc.html#miscellaneous-kernel-statistics-in-proc-stat: hundredths of
  // a second.
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0] = (
    readFileSync("/proc/stat", "utf8").split("\n")[0] ?? ""
  )
    .split(/\s+/)
    .slice(1)
    .map((one) => Number(one) / 100);
  return { user: user + nice, system, idle: idle + iowait };
}

function busyWords(before: ProcessorSeconds | undefined): string {
  const now = processorSeconds();
  if (before === undefined || now === undefined) return "";
  const [user, system, idle] = [now.user - before.user, now.system - before.system, now.idle - before.idle];
  return `; processors: ${user.toFixed(0)} s user, ${system.toFixed(0)} s system, ${idle.toFixed(0)} s idle`;
}

function newFolder(parent: string): string {
  mkdirSync(parent, { recursive: true });
  for (const old of readdirSync(parent)
    .toSorted()
    .slice(0, 1 - RUNS_KEPT))
    rmSync(join(parent, old), { recursive: true, force: true });
  const folder = join(parent, new Date().toISOString().replaceAll(":", "-").replace(/\..*/, ""));
  mkdirSync(folder, { recursive: true });
  return folder;
}
