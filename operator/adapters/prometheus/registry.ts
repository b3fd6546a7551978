import * as prometheus from "prom-client";
import { METRICS, type MetricName } from "./definitions.ts";

type Labels = Readonly<Record<string, string>>;

/** A value with its labels. */
export type Sample = readonly [labels: Labels, value: number];

/** Creates each metric of the table once, and prints all as text. */
export class MetricRegistry {
  readonly prometheus = new prometheus.Registry();

  /** All metrics of now, in Prometheus' text format. */
  async scrape(): Promise<{ readonly contentType: string; readonly text: string }> {
    return { contentType: this.prometheus.contentType, text: await this.prometheus.metrics() };
  }

  counter(name: MetricName): Counter {
    const counter = new Counter(METRICS[name].labels);
    this.computed(name, () => counter.samples());
    return counter;
  }

  gauge(name: MetricName): prometheus.Gauge {
    return new prometheus.Gauge(this.#configOf(name));
  }

  histogram(name: MetricName): Histogram {
    const { help, labels, buckets: bounds = [] } = METRICS[name];
    const histogram = new Histogram(name, labels, bounds);
    const shown = new prometheus.Histogram({ ...this.#configOf(name), buckets: [...bounds] });
    const get = async () => ({ name, help, type: "histogram", aggregator: "sum", values: [...histogram.values()] });
    // prom-client's hooks for its own histograms at a scrape.
    Object.assign(shown, { get, getForPromString: get });
    return histogram;
  }

  /** A gauge or counter that is read at each scrape; missing samples are left out. */
  computed(name: MetricName, read: () => Iterable<Sample>): void {
    const { type, labels: labelNames } = METRICS[name];
    const config = { ...this.#configOf(name), collect };
    const metric = type === "counter" ? new prometheus.Counter(config) : new prometheus.Gauge(config);
    function collect(): void {
      metric.reset();
      // Without labels the reset leaves a zero.
      if (labelNames.length === 0) metric.remove();
      for (const [labels, value] of read()) metric.inc(labels, value);
    }
  }

  #configOf(name: MetricName) {
    const { help, labels } = METRICS[name];
    return { name, help, labelNames: [...labels], registers: [this.prometheus] };
  }
}

/** Deprecated by Node.js, or gauges with a counter's name, which Prometheus' tools refuse. */
const LEFT_OUT = [
  "nodejs_active_handles",
  "nodejs_active_handles_total",
  "nodejs_active_requests",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

/**
 * Metrics of the process and Node.js, under the names of Node.js dashboards. Measured: a scrape takes about a
 * millisecond; the event loop's delay, sampled every ten milliseconds, takes half a hundredth of a processor.
 */
export function processMetrics(registry: MetricRegistry): void {
  prometheus.collectDefaultMetrics({ register: registry.prometheus });
  for (const name of LEFT_OUT) registry.prometheus.removeSingleMetric(name);
}

/**
 * Series of a metric by their labels: each is looked up once and then kept by its user. prom-client looks series up by
 * text each time, which was 2 % of a creation's processor time.
 */
class AllSeries<S> {
  readonly #names: readonly string[];
  readonly #make: () => S;
  readonly #byValues = new Map<string, readonly [Labels, S]>();

  constructor(names: readonly string[], make: () => S) {
    this.#names = names;
    this.#make = make;
    // Without labels the only series exists from the start.
    if (names.length === 0) this.labels({});
  }

  /** Series of these labels, to be kept for frequent use. */
  labels(labels: Labels): S {
    const values = this.#names.map((name) => labels[name]).join("\0");
    const known = this.#byValues.get(values);
    if (known !== undefined) return known[1];
    const made = this.#make();
    this.#byValues.set(values, [labels, made]);
    return made;
  }

  all(): Iterable<readonly [Labels, S]> {
    return this.#byValues.values();
  }
}

class CounterSeries {
  value = 0;

  inc(by = 1): void {
    this.value += by;
  }
}

class Counter extends AllSeries<CounterSeries> {
  constructor(labelNames: readonly string[]) {
    super(labelNames, () => new CounterSeries());
  }

  inc(labels: Labels = {}): void {
    this.labels(labels).inc();
  }

  *samples(): Iterable<Sample> {
    for (const [labels, { value }] of this.all()) yield [labels, value];
  }
}

class HistogramSeries {
  readonly #bounds: readonly number[];
  /** Observations per bucket, without lower ones; the last is beyond all bounds. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] as number)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sum += value;
  }
}

class Histogram extends AllSeries<HistogramSeries> {
  readonly #name: string;
  readonly #bounds: readonly number[];

  constructor(name: string, labelNames: readonly string[], bounds: readonly number[]) {
    super(labelNames, () => new HistogramSeries(bounds));
    this.#name = name;
    this.#bounds = bounds;
  }

  observe(value: number, labels: Labels = {}): void {
    this.labels(labels).observe(value);
  }

  /** Cumulative buckets, sum and count of each series, in prom-client's form. */
  *values(): Iterable<{ readonly metricName: string; readonly labels: Labels; readonly value: number }> {
    for (const [labels, { counts, sum }] of this.all()) {
      let count = 0;
      for (const [index, inBucket] of counts.entries()) {
        count += inBucket;
        const le = String(this.#bounds[index] ?? "+Inf");
        yield { metricName: `${this.#name}_bucket`, labels: { le, ...labels }, value: count };
      }
      yield { metricName: `${this.#name}_sum`, labels, value: sum };
      yield { metricName: `${this.#name}_count`, labels, value: count };
    }
  }
}
