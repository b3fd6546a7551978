import type { MetricLabel, MetricName, MetricOfType } from "../../operator/adapters/prometheus/definitions.ts";

/** What prom-client measures and the dashboards show; a test compares it with what a process answers. */
export type ProcessMetric =
  | "nodejs_eventloop_lag_p99_seconds"
  | "nodejs_heap_size_used_bytes"
  | "process_open_fds"
  | "process_resident_memory_bytes"
  | "process_start_time_seconds";
/** Those of them that are counters. */
export type ProcessCounter = "nodejs_gc_duration_seconds_sum" | "process_cpu_seconds_total";

/** Labels that Prometheus adds to what it scrapes. */
type TargetLabel = "instance";
type LabelOf<Name extends string> = (Name extends MetricName ? MetricLabel<Name> : never) | TargetLabel;
/** A text is equal, a pattern fits. */
type Matchers<Label extends string> = Readonly<Partial<Record<Label, string | RegExp>>>;

/** Grafana's variables: the namespaces and jobs that the reader has chosen, the time that is shown. */
const CHOSEN = ['namespace=~"$namespace"', 'job=~"$job"'];
const EACH_STEP = "$__rate_interval";
/** Of what happens a few times a day: rates of minutes would be mostly empty. Alerts on objectives look as far back. */
export const AN_HOUR = "1h";
/** As a pattern: what the reader has chosen of the variable `controller`. */
export const CHOSEN_CONTROLLERS = /$controller/;
/** The time that the dashboard shows. */
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

  /** How much of the other it is; nothing while the other is zero. */
  dividedBy(whole: Series<Label>): Series<Label> {
    return new Series(`(${this.text} / (${whole.text} > 0))`);
  }

  /** The same where it is absent as where it is zero: a counter is absent until it counts for the first time. */
  orZeroOf(whole: Series<Label>): Series<Label> {
    return new Series(`(${this.text} or ${whole.text} * 0)`);
  }

  /** The rest, where this is a share. */
  inverse(): Series<Label> {
    return new Series(`(1 - ${this.text})`);
  }

  /** How fast an error budget is used up, where this is the bad share and that much is allowed. */
  timesAllowed(allowed: number): Series<Label> {
    return new Series(`(${this.text} / ${Number(allowed.toFixed(6))})`);
  }
}

/** A gauge as it is. */
export function gauge<Name extends MetricOfType<"gauge"> | ProcessMetric>(
  name: Name,
  where?: Matchers<LabelOf<Name>>,
): Series<LabelOf<Name>> {
  return new Series(selector(name, where));
}

/** How much a counter grows in a second. */
export function rate<Name extends MetricOfType<"counter"> | ProcessCounter>(
  name: Name,
  where?: Matchers<LabelOf<Name>>,
  over: string = EACH_STEP,
): Series<LabelOf<Name>> {
  return new Series(`rate(${selector(name, where)}[${over}])`);
}

/** How much a counter has grown in a time. */
export function increase<Name extends MetricOfType<"counter">>(
  name: Name,
  over: string,
  where?: Matchers<LabelOf<Name>>,
): Series<LabelOf<Name>> {
  return new Series(`increase(${selector(name, where)}[${over}])`);
}

/** What a histogram can be asked. */
export interface Histogram<Label extends string> {
  /** The seconds that this share of the events lasted at most. */
  quantile<By extends Label = never>(share: number, ...by: readonly By[]): Series<By>;
  /** How many events there were in the time. */
  count(): Series<Label>;
  /**
   * The share of events that lasted no longer than a bound of the buckets, in seconds.
   *
   * @param endless how many events in a second never came to the end that is measured
   */
  within(seconds: number, endless?: Series): Series;
}

/** The events of a time, as a histogram has them. */
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

/** How many seconds ago a moment was. */
export function secondsSince<Label extends string>(moment: Series<Label>): Series<Label> {
  return new Series(`(time() - ${moment.text})`);
}

/** The share of a counter's events that fit. */
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

/** The query of a variable: the values of a label of what the platform has. */
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

/** As PromQL reads it; in the source of a pattern slashes are escaped, which PromQL refuses. */
function quoted(text: string): string {
  return JSON.stringify(text.replaceAll("\\/", "/"));
}

function aggregated<By extends string>(operator: string, by: readonly By[], text: string): Series<By> {
  return new Series(`${operator}${by.length === 0 ? "" : ` by (${by.join(", ")}) `}(${text})`);
}
