import { describe, expect, test } from "@jest/globals";
import { gauge, histogram, increase, rate, shareOf, valuesOf } from "../../../../deploy/dashboards/queries.ts";
import { METRICS, type MetricDefinition } from "../../../../operator/adapters/prometheus/definitions.ts";
import { MetricRegistry, processMetrics } from "../../../../operator/adapters/prometheus/registry.ts";
import { DASHBOARDS } from "../../../support/prometheus/dashboards.ts";
import { groupingsOf, otherWordsOf, type Selector, selectorsOf } from "../../../support/prometheus/promql.ts";

/** Labels from Prometheus, for each target. */
const TARGET_LABELS = ["namespace", "job", "instance"];
const FUNCTIONS = ["histogram_quantile", "increase", "label_values", "max", "min", "or", "rate", "sum", "time", "topk"];

type Known = Pick<MetricDefinition, "type" | "labels"> & Partial<Pick<MetricDefinition, "buckets">>;

const registry = new MetricRegistry();
processMetrics(registry);
const ofProcess = registry.prometheus.getMetricsAsArray().map((metric) => {
  const { name, type, labelNames } = metric as unknown as { name: string; type: Known["type"]; labelNames?: string[] };
  return [name, { type, labels: labelNames ?? [] }] as const;
});
/** Names in a scrape: a histogram has three. */
const TABLE = new Map<string, Known>(
  [...Object.entries<Known>(METRICS), ...ofProcess].flatMap(([name, known]): (readonly [string, Known])[] => {
    if (known.type !== "histogram") return [[name, known]];
    const bucket = { ...known, labels: [...known.labels, "le"] };
    return [
      [`${name}_bucket`, bucket],
      [`${name}_sum`, known],
      [`${name}_count`, known],
    ];
  }),
);

const labelsOf = (name: string) => [...(TABLE.get(name)?.labels ?? []), ...TARGET_LABELS];
const queries = DASHBOARDS.flatMap(({ file, panels }) =>
  panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({ panel: `${file}: ${title}, ${legendFormat}`, expr, legendFormat })),
  ),
);

function checkSelector({ name, labels, isRange }: Selector): void {
  expect([...TABLE.keys()]).toContain(name);
  expect(labelsOf(name)).toEqual(expect.arrayContaining(Object.keys(labels)));
  // A gauge has no rate, and a counter's absolute value means nothing.
  expect({ name, isRange }).toEqual({ name, isRange: TABLE.get(name)?.type !== "gauge" });
  if (labels.le !== undefined) expect(TABLE.get(name)?.buckets).toContain(Number(labels.le));
}

describe("the queries of the dashboards", () => {
  test("are there", () => expect(queries.length).toBeGreaterThan(60));

  test.each(queries)("$panel asks for metrics and labels that there are", ({ expr }) => {
    const selectors = selectorsOf(expr);
    expect(selectors.length).toBeGreaterThan(0);
    for (const selector of selectors) {
      checkSelector(selector);
      expect(selector.labels).toMatchObject({ namespace: "$namespace", job: "$job" });
    }
    expect(FUNCTIONS).toEqual(expect.arrayContaining([...otherWordsOf(expr)]));
  });

  test.each(queries)("$panel groups by labels that all of its metrics have", ({ expr, legendFormat }) => {
    const groupings = groupingsOf(expr);
    for (const { labels, selectors } of groupings) {
      for (const { name } of selectors) expect(labelsOf(name)).toEqual(expect.arrayContaining([...labels]));
    }
    const grouped = groupings.flatMap(({ labels }) => labels);
    for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(grouped).toContain(label);
  });

  test.each(DASHBOARDS.flatMap(({ variables }) => variables))("the variable %s is of a metric and a label", (query) => {
    const [, name = "", label] = /^label_values\((\w+)(?:\{.*\})?, (\w+)\)$/.exec(query) ?? [];
    expect(TABLE.has(name)).toBe(true);
    expect(labelsOf(name)).toContain(label);
  });
});

describe("a query", () => {
  const TARGETS = 'namespace=~"$namespace",job=~"$job"';

  test.each([
    ["a gauge", gauge("ephemeral_environments").sum("phase"), `sum by (phase) (ephemeral_environments{${TARGETS}})`],
    [
      "a counter, by a pattern",
      rate("http_requests_total", { route: /\/api\/.+/ }).sum(),
      `sum(rate(http_requests_total{${TARGETS},route=~"/api/.+"}[$__rate_interval]))`,
    ],
    [
      "a share, which is zero where nothing has been counted yet",
      shareOf("rest_client_requests_total", { which: { code: "500" }, by: ["method"], over: "5m" }),
      `((sum by (method) (rate(rest_client_requests_total{${TARGETS},code="500"}[5m])) or ` +
        `sum by (method) (rate(rest_client_requests_total{${TARGETS}}[5m])) * 0) / ` +
        `(sum by (method) (rate(rest_client_requests_total{${TARGETS}}[5m])) > 0))`,
    ],
    [
      "a quantile of a histogram",
      histogram("http_request_duration_seconds", { method: "POST" }).quantile(0.95, "route").top(),
      `topk(10, histogram_quantile(0.95, sum by (le, route) (rate(http_request_duration_seconds_bucket{${TARGETS},method="POST"}[$__rate_interval]))))`,
    ],
  ])("asks for %s", (_, { text }, expected) => {
    expect(text).toBe(expected);
  });

  test("with a name that is no metric of its type, or no label of it, is no TypeScript", () => {
    // @ts-expect-error: no such metric
    gauge("ephemeral_environment");
    // @ts-expect-error: a counter
    gauge("http_requests_total");
    // @ts-expect-error: a gauge
    rate("ephemeral_environments");
    // @ts-expect-error: a counter is no histogram
    histogram("ephemeral_webhooks_total");
    // @ts-expect-error: no such label of it
    gauge("ephemeral_environments", { route: "/" });
    // @ts-expect-error: no such label of it
    increase("ephemeral_webhooks_total", "1h").sum("phase");
    // @ts-expect-error: no longer there after the sum
    increase("ephemeral_webhooks_total", "1h").sum("source").sum("outcome");
    // @ts-expect-error: no such label of it
    expect(valuesOf("ephemeral_environments", "controller")).toContain("controller");
  });
});
