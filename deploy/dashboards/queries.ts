import type { MetricLabel, MetricName, MetricOfType } from "../../operator/adapters/prometheus/definitions.ts";

/** Metrics of prom-client that the dashboards show; a test compares them with a running process. */
export type ProcessMetric =
  | "nodejs_eventloop_lag_p99_seconds"
  | "nodejs_heap_size_used_bytes"
  | "process_open_fds"
  | "process_resident_memory_bytes"
  | "process_start_time_seconds";
/** Counters among the process metrics. */
export type ProcessCounter = "nodejs_gc_duration_seconds_sum" | "process_cpu_seconds_total";

type TargetLabel = "instance";
type LabelOf<Name extends string> = (Name extends MetricName ? MetricLabel<Name> : never) | TargetLabel;
/** A text must be equal, a pattern must match. */
type Matchers<Label extends string> = Readonly<Partial<Record<Label, string | RegExp>>>;

/** Grafana's variables: the chosen namespaces and jobs. */
const CHOSEN = ['namespace=~"$namespace"', 'job=~"$job"'];
const EACH_STEP = "$__rate_interval";
/** Window for rare events: rates over minutes would be mostly empty. Alerts on objectives use the same window. */
export const AN_HOUR = "1h";
/** A pattern for the chosen value of the variable `controller`. */
export const CHOSEN_CONTROLLERS = /$controller/;
/** The shown time range. */
export const SHOWN = "$__range";

/** PromQL whose series have these labels; it can stand beside any operator. */
export class Series<Label extends string = never> {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }

  sum<By extends Label = never>(...by: readonly By[]): Series<By> {
    return aggregated("sum", by, this.text);
  }

  max<By extends Label = never>(...by: readonly By[]): Series<By> {
    return aggregated("max", by, this.text);
  }

  min<By extends Label = never>(...by: readonly By[]): Series<By> {
    return aggregated("min", by, this.text);
  }

  /** The ten greatest. */
  top(): Series<Label> {
    return new Series(`topk(10, ${this.text})`);
  }

  /** The quotient; nothing while the divisor is zero. */
  dividedBy(whole: Series<Label>): Series<Label> {
    return new Series(`(${this.text} / (${whole.text} > 0))`);
  }

  /** Zero where the series is absent: a counter is absent until its first count. */
  orZeroOf(whole: Series<Label>): Series<Label> {
    return new Series(`(${this.text} or ${whole.text} * 0)`);
  }

  /** The complement of a share. */
  inverse(): Series<Label> {
    return new Series(`(1 - ${this.text})`);
  }

  /** The burn rate of an error budget, from the share of bad events and the allowed share. */
  timesAllowed(allowed: number): Series<Label> {
    return new Series(`(${this.text} / ${Number(allowed.toFixed(6))})`);
  }
}

/** The value of a gauge. */
export function gauge<Name extends MetricOfType<"gauge"> | ProcessMetric>(
  name: Name,
  where?: Matchers<LabelOf<Name>>,
): Series<LabelOf<Name>> {
  return new Series(selector(name, where));
}

/** Growth of a counter per second. */
export function rate<Name extends MetricOfType<"counter"> | ProcessCounter>(
  name: Name,
  where?: Matchers<LabelOf<Name>>,
  over: string = EACH_STEP,
): Series<LabelOf<Name>> {
  return new Series(`rate(${selector(name, where)}[${over}])`);
}

/** Growth of a counter within a time. */
export function increase<Name extends MetricOfType<"counter">>(
  name: Name,
  over: string,
  where?: Matchers<LabelOf<Name>>,
): Series<LabelOf<Name>> {
  return new Series(`increase(${selector(name, where)}[${over}])`);
}

/** Queries of a histogram. */
export interface Histogram<Label extends string> {
  /** The maximum duration, in seconds, of this share of the events. */
  quantile<By extends Label = never>(share: number, ...by: readonly By[]): Series<By>;
  /** The number of events within the time. */
  count(): Series<Label>;
  /**
   * The share of events within a bound of the buckets, in seconds.
   *
   * @param endless number of events per second that never reached the measured end
   */
  within(seconds: number, endless?: Series): Series;
}

/** The events of a time, from a histogram. */
export function histogram<Name extends MetricOfType<"histogram">>(
  name: Name,
  where?: Matchers<LabelOf<Name>>,
  over: string = EACH_STEP,
): Histogram<LabelOf<Name>> {
  const buckets = (more: object = {}) => `rate(${selector(`${name}_bucket`, { ...where, ...more })}[${over}])`;
  const counted = `sum(rate(${selector(`${name}_count`, where)}[${over}]))`;
  return {
    quantile: (share, ...by) =>
      new Series(`histogram_quantile(${share}, sum by (${["le", ...by].join(", ")}) (${buckets()}))`),
    count: () => new Series(`increase(${selector(`${name}_count`, where)}[${over}])`),
    within(seconds, endless) {
      const all = endless === undefined ? counted : `(${counted} + ${endless.text})`;
      return new Series(`(sum(${buckets({ le: String(seconds) })}) / (${all} > 0))`);
    },
  };
}

/** Age of a moment. */
export function secondsSince<Label extends string>(moment: Series<Label>): Series<Label> {
  return new Series(`(time() - ${moment.text})`);
}

/** The share of a counter's events that match. */
export function shareOf<Name extends MetricOfType<"counter">, By extends LabelOf<Name> = never>(
  name: Name,
  { of, which, by = [], over }: ShareOptions<LabelOf<Name>, By>,
): Series<By> {
  const all = rate(name, of, over).sum(...by);
  return rate(name, { ...of, ...which }, over)
    .sum(...by)
    .orZeroOf(all)
    .dividedBy(all);
}

interface ShareOptions<Label extends string, By extends Label> {
  readonly of?: Matchers<Label>;
  readonly which: Matchers<Label>;
  readonly by?: readonly By[];
  readonly over?: string;
}

/** The query of a variable: a label's values in the platform's metrics. */
export function valuesOf<Name extends MetricName>(
  name: Name,
  label: MetricLabel<Name> | "namespace" | "job",
  where: readonly string[] = CHOSEN,
): string {
  return `label_values(${name}${where.length === 0 ? "" : `{${where.join(",")}}`}, ${label})`;
}

function selector(name: string, where: object = {}): string {
  const matchers = (Object.entries(where) as [string, string | RegExp][]).map(([label, value]) =>
    value instanceof RegExp ? `${label}=~${quoted(value.source)}` : `${label}=${quoted(value)}`,
  );
  return `${name}{${[...CHOSEN, ...matchers].join(",")}}`;
}

/** A PromQL string; a pattern's source escapes slashes, which PromQL refuses. */
function quoted(text: string): string {
  return JSON.stringify(text.replaceAll("\\/", "/"));
}

function aggregated<By extends string>(operator: string, by: readonly By[], text: string): Series<By> {
  return new Series(`${operator}${by.length === 0 ? "" : ` by (${by.join(", ")}) `}(${text})`);
}
