import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { METRICS, type MetricName } from "./definitions.ts";

/** A value, and the labels that tell it from others of its metric. */
export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Makes each metric of the table once, and answers all of them as text. */
export class MetricRegistry {
  readonly prometheus = new Registry();

  counter(name: MetricName): Counter {
    return new Counter(this.#configOf(name));
  }

  gauge(name: MetricName): Gauge {
    return new Gauge(this.#configOf(name));
  }

  histogram(name: MetricName): Histogram {
    return new Histogram({ ...this.#configOf(name), buckets: [...(METRICS[name].buckets ?? [])] });
  }

  /** A gauge or counter that is read anew at each scrape; a sample that is not there any more is left out. */
  computed(name: MetricName, read: () => Iterable<Sample>): void {
    const config = this.#configOf(name);
    const isCounter = METRICS[name].type === "counter";
    const metric: Counter | Gauge = isCounter ? new Counter({ ...config, collect }) : new Gauge({ ...config, collect });
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
