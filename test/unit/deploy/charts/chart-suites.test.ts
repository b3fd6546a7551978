import { existsSync } from "node:fs";
import { cp, glob, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { cacheRoot, hashOfFiles } from "../../../../deploy/build/folders.ts";
import { run } from "../../../../deploy/build/run.ts";
import { eachOf } from "../../../../operator/kit/time/each-of.ts";
import { type Branch, branchesOf } from "../../../support/charts/branches.ts";
import { chartPrograms } from "../../../support/charts/programs.ts";

const charts = fileURLToPath(new URL("../../../../deploy/charts", import.meta.url));
const AT_ONCE = 2;

describe.each(["platform", "environment"])("the suites of the chart %s", (name) => {
  const chart = join(charts, name);
  let program: string;
  let folder: string;

  beforeAll(async () => {
    ({ helmUnittest: program } = await chartPrograms());
    folder = await mkdtemp(join(tmpdir(), "chart-suites-"));
  }, 30 * 60_000);

  afterAll(() => rm(folder, { recursive: true }));

  /** True when the suites of that chart pass. */
  function pass(path: string, suites: readonly string[]): Promise<boolean> {
    const files = suites.flatMap((suite) => ["--file", `tests/${suite}`]);
    return run(program, ["--strict", "--failfast", ...files, path]).then(
      () => true,
      () => false,
    );
  }

  test("pass", async () => {
    await run(program, ["--strict", chart]);
  });

  // Unchanged templates and suites are not tried again: one process for each branch takes time.
  test("reach every branch of every template", async () => {
    const patterns = ["Chart.yaml", "values.*", "templates/**/*.*", "tests/*.*"];
    const held = join(cacheRoot(), `chart-branches-held-${await hashOfFiles(chart, patterns)}`);
    if (existsSync(held)) return;
    const copies = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => copyTo(`${name}-${index}`)));
    const branches = await allBranches();
    const free = [...copies];
    const missed = await eachOf(AT_ONCE, branches, async (branch) => {
      const copy = free.pop() ?? chart;
      const isMissed = await passesWith(copy, branch);
      free.push(copy);
      return isMissed ? [`${branch.file}: ${branch.what}`] : [];
    });
    expect(missed.flat()).toEqual([]);
    expect(branches.length).toBeGreaterThan(10);
    await writeFile(held, "");
  }, 300_000);

  async function copyTo(copy: string): Promise<string> {
    const path = join(folder, copy);
    await cp(chart, path, { recursive: true });
    return path;
  }

  interface InFile extends Branch {
    readonly file: string;
    readonly suites: readonly string[];
  }

  async function allBranches(): Promise<InFile[]> {
    const files = await Array.fromAsync(glob("**/*.{yaml,tpl,txt}", { cwd: join(chart, "templates") }));
    const suites = await suitesByTemplate();
    const found = files.sort().map(async (file) => {
      const own = suites.get(file) ?? [...new Set([...suites.values()].flat())];
      const branches = branchesOf(await readFile(join(chart, "templates", file), "utf8"));
      return branches.map((branch) => ({ ...branch, file, suites: own }));
    });
    return (await Promise.all(found)).flat();
  }

  /** Suites by the template that they render; a template without suites, such as a helper, may be reached by all. */
  async function suitesByTemplate(): Promise<Map<string, string[]>> {
    const suites = new Map<string, string[]>();
    for await (const path of glob("*_test.yaml", { cwd: join(chart, "tests") })) {
      const { templates = [] } = parse(await readFile(join(chart, "tests", path), "utf8")) as { templates?: string[] };
      for (const template of templates) suites.set(template, [...(suites.get(template) ?? []), basename(path)]);
    }
    return suites;
  }

  async function passesWith(copy: string, { file, mutant, suites }: InFile): Promise<boolean> {
    const path = join(copy, "templates", file);
    await writeFile(path, mutant);
    const passes = await pass(copy, suites);
    await cp(join(chart, "templates", file), path);
    return passes;
  }
});
