import * as prometheus from "prom-client";
import { METRICS, type MetricName } from "./definitions.ts";
import { Counter, Histogram } from "./series.ts";

/** A value, and the labels that tell it from others of its metric. */
export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Makes each metric of the table once, and answers all of them as text. */
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
    // What prom-client asks its own histograms for at a scrape.
    Object.assign(shown, { get, getForPromString: get });
    return histogram;
  }

  /** A gauge or counter that is read anew at each scrape; a sample that is not there any more is left out. */
  computed(name: MetricName, read: () => Iterable<Sample>): void {
    const config = this.#configOf(name);
    const isCounter = METRICS[name].type === "counter";
    const full = { ...config, collect };
    const metric = isCounter ? new prometheus.Counter(full) : new prometheus.Gauge(full);
    function collect(): void {
      metric.reset();
      // Without labels there is a zero after the reset.
      if (METRICS[name].labels.length === 0) metric.remove();
      for (const [labels, value] of read()) metric.inc(labels, value);
    }
  }

  #configOf(name: MetricName) {
    const { help, labels } = METRICS[name];
    return { name, help, labelNames: [...labels], registers: [this.prometheus] };
  }
}
