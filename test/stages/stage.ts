import type { Outcome } from "./outcome.ts";

/** The circumstances of a stage's run. */
export interface StageHow {
  /** The test files to run, below the checkout; default: all, or those selected by FILE and NAME. */
  readonly files?: readonly string[] | undefined;
  /** Resolves when the stages beside it are over. */
  readonly others: Promise<void>;
  /** True in a run of all stages. */
  readonly isWhole: boolean;
}

/** Stages that run in one process: all of them, or the named ones. */
export interface StageGroup {
  readonly names: readonly string[];
  run(names: readonly string[], how: StageHow): Promise<Outcome[]>;
  /** Runs beside later groups, until the next one aside. */
  readonly isAside?: boolean;
  /** Uses the groups' shared control planes: each file gets its own in the initial state. */
  readonly onPlanes?: boolean;
  /** True: it waits for real programs, which are late on a busy machine: its failed files run once more, alone. */
  readonly runsAgain?: boolean;
}
