import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import type { Manifest } from "../../../../deploy/local/kubernetes/api-client.ts";
import { helmProgram } from "../../../../deploy/local/kubernetes/helm.ts";
import { rendered } from "./rendered-platform.ts";

const ALERTS = new URL("../../../../deploy/charts/platform/files/alerts.yaml", import.meta.url);
const monitoring = (objects: readonly Manifest[]) =>
  objects.filter(({ apiVersion }) => apiVersion.startsWith("monitoring.coreos.com/"));

describe("the platform chart", () => {
  beforeAll(() => helmProgram(), 30 * 60_000);

  test("needs no Prometheus operator", async () => {
    expect(monitoring(await rendered())).toEqual([]);
  });

  test("says where the runbooks are published", async () => {
    const rules = { enabled: true, runbookUrl: "https://docs.test/runbooks" };
    const [made] = monitoring(await rendered({ metrics: { rules } }));
    expect(JSON.stringify(made)).toContain('"runbook_url":"https://docs.test/runbooks#ephemeraldeletionstuck"');
  });

  test("has its pods scraped and gives the alerts where that is wanted", async () => {
    const labels = { release: "stack" };
    const metrics = { podMonitor: { enabled: true }, rules: { enabled: true }, labels };
    const found = monitoring(await rendered({ metrics }));
    expect(found.map(({ kind }) => kind).sort()).toEqual(["PodMonitor", "PrometheusRule"]);
    for (const { metadata } of found) expect(metadata.labels).toMatchObject(labels);
    const specs = Object.fromEntries(found.map((one) => [one.kind, (one as unknown as { spec: object }).spec]));
    expect(specs.PrometheusRule).toEqual(parse(await readFile(ALERTS, "utf8")));
    expect(specs.PodMonitor).toMatchObject({ podMetricsEndpoints: [{ port: "probes", path: "/metrics" }] });
    const deployment = (await rendered({ metrics })).find(({ kind }) => kind === "Deployment");
    const pods = parse(JSON.stringify(deployment)).spec.template.metadata.labels;
    const { matchLabels } = (specs.PodMonitor as { selector: { matchLabels: object } }).selector;
    expect(pods).toMatchObject(matchLabels);
  });
});
