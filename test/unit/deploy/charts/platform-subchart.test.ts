import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { run } from "../../../../deploy/build/run.ts";
import { type Manifest, parseManifests } from "../../../../deploy/local/kubernetes/api-client.ts";
import { helmProgram } from "../../../../deploy/local/kubernetes/helm.ts";
import { release, rendered, values } from "./rendered-platform.ts";

const chart = fileURLToPath(new URL("../../../../deploy/charts/platform", import.meta.url));
const parent = {
  apiVersion: "v2",
  name: "tools",
  version: "1.0.0",
  dependencies: [{ name: "platform", version: "*", repository: "", condition: "platform.enabled" }],
};

describe("the platform chart as a part of another chart", () => {
  let folder: string;
  let helm: string;

  beforeAll(async () => {
    helm = await helmProgram();
    folder = await mkdtemp(join(tmpdir(), "parent-chart-"));
    await mkdir(join(folder, "charts"));
    await cp(chart, join(folder, "charts/platform"), { recursive: true });
    await writeFile(join(folder, "Chart.yaml"), JSON.stringify(parent));
  }, 30 * 60_000);

  afterAll(() => rm(folder, { recursive: true }));

  async function renderedBy(platform: object, global: object = {}): Promise<Manifest[]> {
    const file = join(folder, "given.json");
    await writeFile(file, JSON.stringify({ global, platform }));
    const command = ["template", release.release, folder, "--namespace", release.namespace, "--values", file];
    return parseManifests(await run(helm, command));
  }

  test("becomes the same objects as alone, whatever the parent says to all its charts", async () => {
    const global = { imageRegistry: "registry.example.test", team: { name: "platform" } };
    expect(await renderedBy({ ...values(), enabled: true }, global)).toEqual(await rendered());
  });

  test("becomes nothing where the parent's condition is false", async () => {
    expect(await renderedBy({ ...values(), enabled: false })).toEqual([]);
  });

  test("still refuses values that it does not know", async () => {
    await expect(renderedBy({ ...values(), operater: {} })).rejects.toThrow(/operater/);
  });
});
