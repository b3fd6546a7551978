import * as prometheus from "prom-client";
import { METRICS, type MetricName } from "./definitions.ts";

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

/**
 * Cheap counters and histograms: a series is looked up once by its labels and then kept by its user. prom-client looks
 * series up by text each time, which was 2 % of a creation's processor time.
 */
type Labels = Readonly<Record<string, string>>;

class CounterSeries {
  value = 0;

  inc(by = 1): void {
    this.value += by;
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

class AllSeries<S> {
  readonly #names: readonly string[];
  readonly #make: () => S;
  readonly #byValues = new Map<string, readonly [Labels, S]>();

  constructor(names: readonly string[], make: () => S) {
    this.#names = names;
    this.#make = make;
    // Without labels the only series exists from the start.
    if (names.length === 0) this.of({});
  }

  of(labels: Labels): S {
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

class Counter {
  readonly #series: AllSeries<CounterSeries>;

  constructor(labelNames: readonly string[]) {
    this.#series = new AllSeries(labelNames, () => new CounterSeries());
  }

  /** Series of these labels, to be kept for frequent use. */
  labels(labels: Labels): CounterSeries {
    return this.#series.of(labels);
  }

  inc(labels: Labels = {}): void {
    this.#series.of(labels).inc();
  }

  *samples(): Iterable<readonly [Labels, number]> {
    for (const [labels, { value }] of this.#series.all()) yield [labels, value];
  }
}

interface HistogramValue {
  readonly metricName: string;
  readonly labels: Labels;
  readonly value: number;
}

class Histogram {
  readonly #name: string;
  readonly #bounds: readonly number[];
  readonly #series: AllSeries<HistogramSeries>;

  constructor(name: string, labelNames: readonly string[], bounds: readonly number[]) {
    this.#name = name;
    this.#bounds = bounds;
    this.#series = new AllSeries(labelNames, () => new HistogramSeries(bounds));
  }

  /** Series of these labels, to be kept for frequent use. */
  labels(labels: Labels): HistogramSeries {
    return this.#series.of(labels);
  }

  observe(value: number, labels: Labels = {}): void {
    this.#series.of(labels).observe(value);
  }

  /** Cumulative buckets, sum and count of each series. */
  *values(): Iterable<HistogramValue> {
    for (const [labels, { counts, sum }] of this.#series.all()) {
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
