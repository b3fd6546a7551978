/** Writes `docs/metrics.md`; with `--check` fails when it is outdated. */
import { code, generated, tableRow } from "../../../crds/generated.ts";
import { METRICS } from "./definitions.ts";
import { MetricRegistry, processMetrics } from "./registry.ts";

const HEAD = `# Metrics

<!-- Written by operator/adapters/prometheus/generate.ts: run 'make generate' after a change. -->

The platform answers \`GET /metrics\` on the probes' port (9090 unless the settings say otherwise), in the text format of
Prometheus. Labels are bounded: none is an environment's name or a user. What controllers and their queues do has the names
that controller-runtime gives it, so that public dashboards for controller-runtime show it. Our own are in
[deploy/charts/platform/files/dashboards](../deploy/charts/platform/files/dashboards): by the chart's value
\`metrics.dashboards.enabled\`, or imported in Grafana by hand.

- **Stable** metrics keep name, type and labels within a major version; **alpha** ones may change in any.
- Figures **of the leader** are about the whole cluster: other replicas do not have them, so that sums over replicas are right.
  Counters and histograms begin anew with each process. The gate is a process of its own, with its own port of probes.
`;

const OF = { leader: "the leader", replica: "each replica", gate: "each gate" } as const;

const rows = Object.entries(METRICS).map(([name, { type, labels, help, stability, from }]) =>
  tableRow([code(name), type, labels.map(code).join(", "), OF[from], stability, help]),
);

const registry = new MetricRegistry();
processMetrics(registry);
const ofProcess = registry.prometheus
  .getMetricsAsArray()
  .map(({ name, help, ...metric }) =>
    tableRow([code(name), String((metric as unknown as { type: string }).type), help]),
  );

const content = [
  HEAD,
  tableRow(["Name", "Type", "Labels", "Of", "Stability", "Meaning"]),
  tableRow(Array(6).fill("---")),
  ...rows,
  "",
  "## Process and Node.js",
  "",
  "With the names that [prom-client](https://github.com/siimon/prom-client) gives, as dashboards for Node.js expect.",
  "",
  tableRow(["Name", "Type", "Meaning"]),
  tableRow(Array(3).fill("---")),
  ...ofProcess,
  "",
].join("\n");

generated("docs/metrics.md", content);
