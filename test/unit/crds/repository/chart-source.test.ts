import { describe, expect, test } from "@jest/globals";
import {
  type ChartSource,
  COMMIT_REVISION,
  defaultChartProblem,
  sourceAt,
} from "../../../../crds/repository/chart-source.ts";

const git = { repoUrl: "https://git.test/shop.git", path: "chart", revision: COMMIT_REVISION };

describe("the source of a chart", () => {
  test("is that of the commit where its revision says so", () => {
    expect(sourceAt(git, "c0ffee")).toEqual({ ...git, revision: "c0ffee" });
  });

  test("is waited for until the commit is known", () => {
    expect(() => sourceAt(git, undefined)).toThrow("the commit that the chart is of is not settled");
  });

  test.each<ChartSource>([
    { ...git, revision: "main" },
    { repoUrl: "https://charts.test", chart: "shop", version: "1.2.3" },
    { repoUrl: "oci://registry.test/charts", chart: "shop", version: "1.2.3" },
  ])("stays as it is without it: %j", (source) => {
    expect(sourceAt(source, "c0ffee")).toBe(source);
    expect(defaultChartProblem(source)).toBeUndefined();
  });
});

test.each([
  { ...git, revision: "main" },
  { ...git, revision: "main", repoUrl: "http://127.0.0.1:9300/shop.git" },
  { repoUrl: "oci://registry.test/charts", chart: "shop", version: "1.2.3" },
])("a credential may be sent to %j", (source) => {
  expect(defaultChartProblem({ ...source, credentialsRef: {} })).toBeUndefined();
});

describe("the default chart", () => {
  const at = (repoUrl: string, more: object) => defaultChartProblem({ repoUrl, ...more });

  test.each([
    [at("oci://registry.test/c", { path: ".", revision: "main" }), "", "an OCI registry has no path"],
    [at("https://charts.test", { path: ".", chart: "shop" }), "", "name one pair of them"],
    [at("https://charts.test", { chart: "shop" }), "", "has both chart and version"],
    [at("oci://registry.test/c", {}), "", "has both chart and version"],
    [at("https://git.test/c.git", { path: "." }), "", "has both path and revision"],
    [at("oci://registry.test/c", { chart: "Shop", version: "1.2.3" }), "/chart", "lower-case letters"],
    [at("https://charts.test", { chart: "shop", version: "^1.2" }), "/version", "is no exact version"],
    [at("https://git.test/c.git", { path: ".", revision: "{branch}" }), "/revision", "the only text in braces"],
    [
      at("http://git.test/c.git", { path: ".", revision: "main", credentialsRef: {} }),
      "/credentialsRef",
      "credentials are sent by https only",
    ],
    [
      at("http://127.0.0.1.evil.test/c.git", { path: ".", revision: "main", credentialsRef: {} }),
      "/credentialsRef",
      "credentials are sent by https only",
    ],
    [defaultChartProblem(git), "/revision", "the default chart is of no Repository"],
  ])("is refused where a Repository's would be, by its field: %j", (found, field, words) => {
    expect(found).toMatchObject({ field, problem: expect.stringContaining(words) });
  });
});
