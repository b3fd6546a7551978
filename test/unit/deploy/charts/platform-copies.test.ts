import { cp, glob, lstat, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { run } from "../../../../deploy/build/run.ts";
import { parseManifests } from "../../../../deploy/local/kubernetes/api-client.ts";
import { helmProgram } from "../../../../deploy/local/kubernetes/helm.ts";
import { release, rendered, values } from "./rendered-platform.ts";

const charts = fileURLToPath(new URL("../../../../deploy/charts", import.meta.url));
const lost = "definitions/repositories.yaml";
const words = `the chart has no ${lost}: take it whole`;

describe("a copy of the platform's chart", () => {
  let helm: string;
  let folder: string;
  let chart: string;

  beforeAll(async () => {
    helm = await helmProgram();
  }, 30 * 60_000);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "chart-copy-"));
    chart = join(folder, "platform");
    await cp(join(charts, "platform"), chart, { recursive: true, verbatimSymlinks: true });
    await writeFile(join(folder, "values.json"), JSON.stringify(values()));
  });

  afterEach(() => rm(folder, { recursive: true }));

  const given = () => ["--namespace", release.namespace, "--values", join(folder, "values.json")];
  const template = async (source: string) =>
    parseManifests(await run(helm, ["template", release.release, source, ...given()]));
  const lint = () => run(helm, ["lint", chart, ...given()]);

  test("becomes the same objects", async () => {
    expect(await template(chart)).toEqual(await rendered());
  });

  test("becomes the same objects once helm has packed it", async () => {
    await run(helm, ["package", chart, "--destination", folder]);
    const [archive = ""] = await Array.fromAsync(glob("*.tgz", { cwd: folder }));
    expect(await template(join(folder, archive))).toEqual(await rendered());
  });

  test.each([
    ["lacks a definition", (path: string) => rm(path)],
    [
      "has the place of a definition instead of it",
      (path: string) => writeFile(path, "../../../crds/repositories.yaml"),
    ],
  ])("that %s is refused with its name", async (_, spoil) => {
    await spoil(join(chart, lost));
    await expect(template(chart)).rejects.toThrow(words);
    await expect(lint()).rejects.toThrow(words);
  });

  test("that lacks its defaults is refused with their name", async () => {
    await rm(join(chart, "files/defaults.yaml"));
    await expect(template(chart)).rejects.toThrow("the chart has no files/defaults.yaml: take it whole");
  });
});

test.each(["platform", "environment"])(
  "the chart %s has no symbolic link, which archives and checkouts lose",
  async (name) => {
    const links: string[] = [];
    for await (const path of glob("**/*", { cwd: join(charts, name) })) {
      if ((await lstat(join(charts, name, path))).isSymbolicLink()) links.push(path);
    }
    expect(links).toEqual([]);
  },
);
