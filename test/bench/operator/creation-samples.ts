/** Numbers of environments. */
export interface CreationSizes {
  /** Rounds, each with a turn of every side; multiples of six have every order equally often. */
  readonly rounds: number;
  /** Uncounted environments at the start of a turn: an idle process is slow at first. */
  readonly warmUp: number;
  readonly single: number;
  readonly many: number;
}

/** The figures of one side. */
export interface Samples {
  readonly chainMs: number[];
  /** Duration of each turn's many. */
  readonly manyMs: number[];
  /** The operator's CPU time of each turn, on all threads, until the last Event was written. */
  readonly cpuSeconds: number[];
}

/** Environments of a turn. */
export const madeIn = ({ warmUp, single, many }: CreationSizes): number => warmUp + single + many;
