import { readdir, readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { helmProgram } from "../../../../deploy/local/kubernetes/helm.ts";
import { rendered } from "./rendered-platform.ts";

const DASHBOARDS = new URL("../../../../deploy/charts/platform/files/dashboards/", import.meta.url);
/** The API server's limit for a ConfigMap's data. */
const CONFIG_MAP_BYTES = 1024 * 1024;

async function dashboards(values: object) {
  const objects = await rendered({ metrics: { dashboards: { enabled: true, ...values } } });
  return objects.filter(({ kind, metadata }) => kind === "ConfigMap" && metadata.name.includes("dashboard"));
}

const dataOf = (object: object) => (object as { data: Readonly<Record<string, string>> }).data;

describe("the platform chart", () => {
  beforeAll(() => helmProgram(), 30 * 60_000);

  test("brings no dashboards unless they are wanted", async () => {
    expect(await dashboards({ enabled: false })).toEqual([]);
  });

  test("has a ConfigMap for each dashboard, which Grafana's sidecar finds", async () => {
    const files = (await readdir(DASHBOARDS)).sort();
    const found = await dashboards({});
    expect(files.length).toBeGreaterThan(0);
    expect(found.map((one) => Object.keys(dataOf(one)))).toEqual(
      files.map((file) => [`ephemeral-environments-${file}`]),
    );
    for (const [index, file] of files.entries()) {
      const { metadata, data } = found[index] as unknown as { metadata: object; data: Record<string, string> };
      const text = await readFile(new URL(file, DASHBOARDS), "utf8");
      expect(JSON.parse(Object.values(data)[0] ?? "")).toEqual(JSON.parse(text));
      expect(metadata).toMatchObject({ namespace: "ephemeral-system", labels: { grafana_dashboard: "1" } });
      expect(metadata).not.toHaveProperty("annotations");
      expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThan(CONFIG_MAP_BYTES);
    }
  });

  test("labels and annotates dashboards as the sidecar is set up", async () => {
    const labels = { dashboards: "yes" };
    const annotations = { grafana_folder: "Platform" };
    for (const { metadata } of await dashboards({ labels, annotations })) {
      expect(metadata).toMatchObject({ labels, annotations });
    }
  });

  test("links dashboards to where the runbooks are published", async () => {
    const metrics = { rules: { runbookUrl: "https://docs.test/runbooks" }, dashboards: { enabled: true } };
    const text = JSON.stringify(await rendered({ metrics }));
    expect(text).not.toContain("docs/runbooks.md");
    expect(text).toContain("https://docs.test/runbooks#ephemeraldeletionstuck");
  });
});
