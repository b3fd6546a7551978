/** A metric, as `docs/metrics.md` lists it. */
export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  /** A sentence for people. */
  readonly help: string;
  readonly labels: readonly string[];
  /** `stable`: its name, type and labels stay within a major version of the platform. */
  readonly stability: "stable" | "alpha";
  /** Which replicas have it: figures about the whole cluster come from the leader alone, so that sums are right. */
  readonly from: "replica" | "leader";
  /** Upper bounds of a histogram, in seconds. */
  readonly buckets?: readonly number[];
}

/** As it is written: what is left out is no labels, not yet stable, of every replica. */
export type Definition = Omit<MetricDefinition, "labels" | "stability" | "from"> &
  Partial<Pick<MetricDefinition, "labels" | "stability" | "from">>;
