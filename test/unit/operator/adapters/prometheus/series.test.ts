import { describe, expect, test } from "@jest/globals";
import { Counter, Histogram, Registry } from "prom-client";
import { METRICS, type MetricName } from "../../../../../operator/adapters/prometheus/definitions.ts";
import { MetricRegistry } from "../../../../../operator/adapters/prometheus/registry.ts";

const COUNTERS = ["rest_client_requests_total", "ephemeral_environment_failures_total"] as const;
const HISTOGRAMS = ["http_request_duration_seconds", "ephemeral_environment_creation_seconds"] as const;

const valuesOf = (bounds: readonly number[]) => [
  0,
  ...bounds,
  ...bounds.map((bound) => bound * 1.0001),
  1e6,
  0.1 + 0.2,
];

function labelsOf(name: MetricName): readonly Record<string, string>[] {
  const { labels } = METRICS[name];
  if (labels.length === 0) return [{}];
  return ["one", 'an "other"\n'].map((value) => Object.fromEntries(labels.map((label) => [label, value])));
}

function configOf(name: MetricName, registry: Registry) {
  const { help, labels } = METRICS[name];
  return { name, help, labelNames: [...labels], registers: [registry] };
}

const lines = (text: string) => text.split("\n").toSorted();

describe("what is counted reads as if prom-client had counted it", () => {
  test.each(COUNTERS)("%s", async (name) => {
    const [registry, library] = [new MetricRegistry(), new Registry()];
    const [ours, theirs] = [registry.counter(name), new Counter(configOf(name, library))];
    expect(await registry.prometheus.metrics()).toBe(await library.metrics());
    for (const labels of labelsOf(name)) {
      ours.inc(labels);
      ours.labels(labels).inc(41);
      theirs.inc(labels, 42);
    }
    expect(await registry.prometheus.metrics()).toBe(await library.metrics());
  });

  test.each(HISTOGRAMS)("%s", async (name) => {
    const buckets = [...(METRICS[name].buckets ?? [])];
    const [registry, library] = [new MetricRegistry(), new Registry()];
    const ours = registry.histogram(name);
    const theirs = new Histogram({ ...configOf(name, library), buckets });
    expect(lines(await registry.prometheus.metrics())).toEqual(lines(await library.metrics()));
    for (const labels of labelsOf(name)) {
      for (const value of valuesOf(buckets)) {
        ours.labels(labels).observe(value);
        ours.observe(value, labels);
        for (let count = 0; count < 2; count += 1) theirs.observe(labels, value);
      }
    }
    expect(lines(await registry.prometheus.metrics())).toEqual(lines(await library.metrics()));
  });
});
