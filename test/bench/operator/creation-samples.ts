/** Numbers of environments. */
export interface CreationSizes {
  /** Rounds, each with a turn of every side; an even number has each side first equally often. */
  readonly rounds: number;
  /** Uncounted environments at the start of a turn: an idle process is slow at first. */
  readonly warmUp: number;
  readonly single: number;
  readonly many: number;
  /** Blocks of alternating phases, of about a second each. */
  readonly blocks: number;
}

/** The figures of one side. */
export interface Samples {
  readonly chainMs: number[];
  /** Duration of each turn's many. */
  readonly manyMs: number[];
  /** The operator's writes of Events during each turn's many, as a part of its others. */
  readonly eventParts: number[];
  /** The operator's CPU time for each environment of a turn, on all threads. */
  readonly cpuMs: number[];
}
