import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { CART_BRANCH, git, makeRepositories } from "../../../../../deploy/local/git/repositories.ts";

describe("the repositories of the local cluster", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "repositories-"));
  });

  afterEach(() => rm(folder, { recursive: true }));

  const bare = (name: string) => join(folder, "platform", `${name}.git`);
  const head = async (name: string, branch: string) => (await git(bare(name), ["rev-parse", branch])).trim();
  const files = async (name: string, branch: string) =>
    (await git(bare(name), ["ls-tree", "--name-only", branch])).trim().split("\n");

  test("have the returned heads, the same each time", async () => {
    const made = await makeRepositories(folder);
    expect(await head("environment-chart", "main")).toBe(made.chart.commit);
    expect(await head("sample-backend", "main")).toBe(made.backend.commit);
    expect(await head("sample-frontend", CART_BRANCH)).toBe(made.frontend.cartCommit);
    expect(made.backend.commit).not.toBe(made.frontend.commit);
    expect(await makeRepositories(folder)).toEqual(made);
  });

  test("have the branches alone, with every file as it is in the checkout", async () => {
    await makeRepositories(folder);
    const refs = await git(bare("sample-backend"), ["for-each-ref", "--format=%(refname)"]);
    expect(refs.trim().split("\n")).toEqual([`refs/heads/${CART_BRANCH}`, "refs/heads/main"]);
    const chart = join(import.meta.dirname, "../../../../../deploy/charts/environment");
    const env = { GIT_DIR: bare("environment-chart"), GIT_WORK_TREE: chart, GIT_INDEX_FILE: join(folder, "index") };
    await git(chart, ["add", "--all"], { env });
    const tree = await git(chart, ["write-tree"], { env });
    expect(await git(chart, ["rev-parse", "main^{tree}"], { env })).toBe(tree);
  });

  test("have a feature on a branch that main lacks, without its build tag", async () => {
    await makeRepositories(folder);
    expect(await files("sample-backend", "main")).not.toContain("cart.go");
    expect(await files("sample-backend", CART_BRANCH)).toContain("cart.go");
    expect(await git(bare("sample-backend"), ["show", `${CART_BRANCH}:cart.go`])).toMatch(/^package main\n/);
  });

  test("keep later pushes to the sample, while the chart follows the checkout", async () => {
    const made = await makeRepositories(folder);
    for (const name of ["sample-backend", "environment-chart"]) {
      const tree = (await git(bare(name), ["rev-parse", "main^{tree}"])).trim();
      const commit = (await git(bare(name), ["commit-tree", "-m", "Try", "-p", "main", tree])).trim();
      await git(bare(name), ["update-ref", "refs/heads/main", commit]);
    }
    const tried = await head("sample-backend", "main");
    await makeRepositories(folder);
    expect(await head("sample-backend", "main")).toBe(tried);
    expect(await head("environment-chart", "main")).toBe(made.chart.commit);
  });
});
