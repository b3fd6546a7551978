import { describe, expect, test } from "@jest/globals";
import { HEALTH_PATH_PATTERN } from "../../../../crds/repository/health-path.ts";
import { CHART_URL_PATTERN } from "../../../../crds/repository/repository.schema.ts";
import {
  admits,
  chartOf,
  fullNameOf,
  generatedSecrets,
  hostedRepository,
  hostOf,
  imageOf,
  imagePlace,
} from "../../../../crds/repository/repository.ts";
import { commitA, repositoryFixture } from "../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../support/fixtures/test-settings.ts";

describe("the image of a commit", () => {
  test.each([
    [undefined, commitA],
    ["sha-{commit:7}", "sha-aaaaaaa"],
  ])("with the template %s", (tagTemplate, tag) => {
    const repository = "registry.test/shop-api";
    const image = { repository, ...(tagTemplate ? { tagTemplate } : {}) };
    const build = { commit: commitA, branch: "main" };
    expect(imageOf(repositoryFixture("shop-api", { image }), build)).toBe(`${repository}:${tag}`);
  });
});

describe("the host of a Repository", () => {
  const hosts = [{ id: "git", token: { name: "host-token", key: "latest" } }, { id: "quiet" }];
  const on = (host?: string) => repositoryFixture("shop-api", host === undefined ? {} : { host });

  test("is that of its id in the settings", () => {
    expect(hostOf(on("quiet").spec, { hosts })).toBe(hosts[1]);
    expect(hostOf(on("other").spec, { hosts })).toBeUndefined();
    expect(hostOf(on().spec, { hosts })).toBeUndefined();
  });

  test("can be called where the settings have a token of it", () => {
    const fullName = fullNameOf(on());
    expect(hostedRepository(on("git"), { hosts })).toEqual({ host: "git", fullName });
    for (const host of ["quiet", "other", undefined]) expect(hostedRepository(on(host), { hosts })).toBeUndefined();
  });
});

describe("where an image is", () => {
  test.each([
    ["registry.test/shop/shop-api", "registry.test", "shop/shop-api"],
    ["registry.test:5000/shop-api", "registry.test:5000", "shop-api"],
    ["registry:5000/shop-api", "registry:5000", "shop-api"],
    ["localhost/shop-api", "localhost", "shop-api"],
    ["127.0.0.1:5000/shop-api", "127.0.0.1:5000", "shop-api"],
    ["shop-api", "docker.io", "shop-api"],
    ["shop/shop-api", "docker.io", "shop/shop-api"],
    ["docker.io/shop/shop-api", "docker.io", "shop/shop-api"],
    ["index.docker.io/shop/shop-api", "docker.io", "shop/shop-api"],
    ["shop.api", "docker.io", "shop.api"],
  ])("%s is in %s", (repository, registry, name) => {
    expect(imagePlace(repositoryFixture("shop-api", { image: { repository } }))).toEqual({ registry, name });
  });
});

describe("the secrets of a repository", () => {
  test("are three when it says nothing", () => {
    expect(generatedSecrets(repositoryFixture()).map(({ name }) => name)).toEqual([
      "DATABASE_PASSWORD",
      "SECRET_KEY",
      "API_TOKEN",
    ]);
  });

  test("are exactly its own when it names some, with defaults for what it leaves out", () => {
    const secrets = [
      { name: "A" },
      { name: "B", kind: "uuid" as const },
      { name: "C", kind: "token" as const, length: 20 },
    ];
    expect(generatedSecrets(repositoryFixture("shop-api", { secrets }))).toEqual([
      { name: "A", kind: "password", length: 32 },
      { name: "B", kind: "uuid", length: 32 },
      { name: "C", kind: "token", length: 20 },
    ]);
  });

  test("are none when it names none", () => {
    expect(generatedSecrets(repositoryFixture("shop-api", { secrets: [] }))).toEqual([]);
  });
});

describe("who may use a repository", () => {
  test.each([
    ["everybody when it names no groups", undefined, [], true],
    ["everybody when its list is empty", [], ["team"], true],
    ["a member of one of its groups", ["a", "b"], ["x", "b"], true],
    ["no one else", ["a", "b"], ["c", "A"], false],
    ["no one without groups", ["a"], [], false],
  ])("%s", (_rule, groups, callers, expected) => {
    const spec = groups === undefined ? {} : { access: { groups } };
    expect(admits(repositoryFixture("shop-api", spec), callers)).toBe(expected);
  });
});

describe("a health path", () => {
  const pattern = new RegExp(HEALTH_PATH_PATTERN);

  test.each(["/", "/healthz", "/a/b.c/~d_e-f/", "/1"])("may be %s", (path) => {
    expect(path).toMatch(pattern);
  });

  test.each(["", "healthz", "//169.254.169.254/x", "/a//b", "/a?b", "/a#b", "/a\\b", "/a b", "/a%2fb", "/a\n"])(
    "must not be %j",
    (path) => {
      expect(path).not.toMatch(pattern);
    },
  );

  test("costs no time however long it goes on before it fails", () => {
    expect(`${"/a".repeat(50_000)}${"a".repeat(50_000)}!`).not.toMatch(pattern);
  });
});

describe("the URL of a chart", () => {
  const isChartUrl = (url: string) => new RegExp(CHART_URL_PATTERN).test(url);
  test.each([
    "https://git.example.test/team/chart.git",
    "https://git.example.test",
    "http://127.0.0.1:9300/platform/environment-chart.git",
    "https://dev.example.test/Org/My%20Project/_git/chart",
    "https://git.example.test/~me/a+b@v1/",
    "https://git.example.test//team/.github/a..b/...chart/chart..",
    "oci://registry.example.test",
    "oci://registry.example.test:5000/team/charts__a/shop-api.b",
  ])("may be %s", (url) => {
    expect(isChartUrl(url)).toBe(true);
  });

  test.each([
    "https://user:secret@git.example.test/chart.git",
    "https://git.example.test/*",
    "https://git.example.test/chart.git?a=b",
    "https://git.example.test/chart.git#main",
    "http://[::1]:9300/chart.git",
    ..."!'()$*[]{}\\ ;\n".split("").map((sign) => `https://git.example.test/a${sign}b`),
    ...["..", ".", "%2e%2e", "%2E.", ".%2e", "..%2fevil", "..%5Cevil", "%252e%252e", "a%", "a%2"].flatMap((segment) => [
      `https://git.example.test/team/${segment}/evil.git`,
      `https://git.example.test/team/${segment}`,
    ]),
    "ssh://git@git.example.test/chart.git",
    "oci://user:secret@registry.example.test/charts",
    ...["*", "..", "%2e%2e", "Charts", "a/", "/a", "a?b", "a#b", "a-", "{a,b}"].map(
      (path) => `oci://registry.example.test/${path}`,
    ),
  ])("may not be %j", (url) => {
    expect(isChartUrl(url)).toBe(false);
  });

  test("is judged at once, however long it is", () => {
    expect(isChartUrl(`https://git.example.test/${"a/..a".repeat(20_000)}!`)).toBe(false);
    expect(isChartUrl(`oci://registry.example.test/${"a--a".repeat(20_000)}!`)).toBe(false);
  });
});

describe("the full name of a Repository", () => {
  test.each([
    ["as registered", { fullName: "Shop/Api", cloneUrl: "https://git.test/other.git" }, "Shop/Api"],
    ["the path of its URL", { cloneUrl: "https://git.test/shop/api" }, "shop/api"],
    ["without .git", { cloneUrl: "https://git.test/group/shop/api.git/" }, "group/shop/api"],
  ])("is %s", (_what, spec, expected) => {
    expect(fullNameOf(repositoryFixture("shop-api", spec))).toBe(expected);
  });
});

test("the chart is the backend Repository's own, else the default one", () => {
  const chart = { repoUrl: "https://git.test/own.git", path: "chart", revision: "v1" };
  expect(chartOf({ backend: repositoryFixture("shop-api", { chart }) }, testSettings)).toBe(chart);
  expect(chartOf({}, testSettings)).toBe(testSettings.defaultChart);
});
