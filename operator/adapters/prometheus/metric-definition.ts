/** A metric, as `docs/metrics.md` lists it. */
export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  /** A sentence for people. */
  readonly help: string;
  readonly labels: readonly string[];
  /** `stable`: name, type and labels stay within a major version. */
  readonly stability: "stable" | "alpha";
  /** Reporting replicas: cluster-wide metrics come from the leader alone, so that sums are right. */
  readonly from: "replica" | "leader";
  readonly buckets?: readonly number[];
}

/** Definition as written, with defaults left out: no labels, `alpha`, every replica. */
export type Definition = Omit<MetricDefinition, "labels" | "stability" | "from"> &
  Partial<Pick<MetricDefinition, "labels" | "stability" | "from">>;
