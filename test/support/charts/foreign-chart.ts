import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { run } from "../../../deploy/build/run.ts";
import { type Manifest, parseManifests } from "../../../deploy/local/kubernetes/api-client.ts";
import { helmProgram } from "../../../deploy/local/kubernetes/helm.ts";

/** A chart written without the platform in mind. */
export interface ForeignChart {
  /** The chart's objects with these values, as Argo CD renders them. */
  render(name: string, values: object): Promise<Manifest[]>;
  remove(): Promise<void>;
}

/** The chart of the current `helm create`. */
export async function createdChart(): Promise<ForeignChart> {
  const helm = await helmProgram();
  const folder = await mkdtemp(join(tmpdir(), "foreign-chart-"));
  await run(helm, ["create", join(folder, "app")]);
  return {
    async render(name, values) {
      const file = join(folder, "values.json");
      await writeFile(file, JSON.stringify(values));
      const given = ["--namespace", `env-${name}`, "--skip-tests", "--values", file];
      return parseManifests(await run(helm, ["template", "environment", join(folder, "app"), ...given]));
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The example's values below this title of docs/charts.md. */
export async function exampleValues(title: string): Promise<string> {
  const page = await readFile(join(import.meta.dirname, "../../../docs/charts.md"), "utf8");
  const [, example = ""] = page.slice(page.indexOf(`\n## ${title}\n`)).split("```yaml\n", 2);
  return (parse(example.split("```", 1)[0] ?? "") as { values: string }).values;
}
