import * as prometheus from "prom-client";
import { METRICS, type MetricName } from "./definitions.ts";
import { Counter, Histogram } from "./series.ts";

/** A value with its labels. */
export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Creates each metric of the table once, and prints all as text. */
export class MetricRegistry {
  readonly prometheus = new prometheus.Registry();

  counter(name: MetricName): Counter {
    const counter = new Counter(METRICS[name].labels);
    this.computed(name, () => counter.samples());
    return counter;
  }

  gauge(name: MetricName): prometheus.Gauge {
    return new prometheus.Gauge(this.#configOf(name));
  }

  histogram(name: MetricName): Histogram {
    const buckets = [...(METRICS[name].buckets ?? [])];
    const histogram = new Histogram(name, METRICS[name].labels, buckets);
    const shown = new prometheus.Histogram({ ...this.#configOf(name), buckets });
    const { help } = METRICS[name];
    const get = async () => ({
      name,
      help,
      type: "histogram",
      aggregator: "sum",
      values: [...histogram.values()],
    });
    // prom-client's hooks for its own histograms at a scrape.
    Object.assign(shown, { get, getForPromString: get });
    return histogram;
  }

  /** A gauge or counter that is read at each scrape; missing samples are left out. */
  computed(name: MetricName, read: () => Iterable<Sample>): void {
    const config = this.#configOf(name);
    const isCounter = METRICS[name].type === "counter";
    const full = { ...config, collect };
    const metric = isCounter ? new prometheus.Counter(full) : new prometheus.Gauge(full);
    function collect(): void {
      metric.reset();
      // Without labels the reset leaves a zero.
      if (METRICS[name].labels.length === 0) metric.remove();
      for (const [labels, value] of read()) metric.inc(labels, value);
    }
  }

  #configOf(name: MetricName) {
    const { help, labels } = METRICS[name];
    return { name, help, labelNames: [...labels], registers: [this.prometheus] };
  }
}
