import type { Outcome } from "./outcome.ts";

/** The circumstances in which a stage runs. */
export interface StageHow {
  /** The test files to run, below the checkout; by default all, or those that FILE and NAME choose. */
  readonly files?: readonly string[] | undefined;
  /** Resolves when the stages beside it are over. */
  readonly others: Promise<void>;
  /** Among all the other stages. */
  readonly isWhole: boolean;
}

/** Stages that run in one process: all of them, or those that are named. */
export interface StageGroup {
  readonly names: readonly string[];
  run(names: readonly string[], how: StageHow): Promise<Outcome[]>;
  /** Beside the groups that come after it, until the next one that is aside. */
  readonly isAside?: boolean;
  /** With the control planes that all such groups share: each file finds its own as new. */
  readonly onPlanes?: boolean;
  /** It waits for real programs, which may be late where a machine is busy: its failed files run once more, alone. */
  readonly runsAgain?: boolean;
}
