import { beforeAll, describe, expect, test } from "@jest/globals";
import { CHART_VALUES_MAX_LENGTH } from "../../../crds/chart-values/chart-values.schema.ts";
import { REFERENCES, REFERENCES_SENTENCE } from "../../../crds/chart-values/references.ts";
import { repositoryFixture } from "../../support/fixtures/environment/environment-fixture.ts";
import type { ApiCalls } from "../../support/plane/api-calls.ts";
import { paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator } from "../../support/plane/people.ts";

const plane = await controlPlane();

const dryRun = `${paths.repositories}?dryRun=All`;

function repositoryObject(spec: object, name = "shop-api"): object {
  const { apiVersion, kind, spec: whole } = repositoryFixture();
  return { apiVersion, kind, metadata: { name }, spec: { ...whole, ...spec } };
}

const place = { repoUrl: "https://git.test/c.git", path: ".", revision: "main" };
const at = (repoUrl: string, more: object) => ({ chart: { repoUrl, ...more } });
const mapped = (values: string, more: object = {}) => ({ chart: { ...place, values }, ...more });
/** A text of maximum length, full of references and other signs. */
const full = `${"a: ${backend.host}\n".repeat(100)}b: "${"$${ $x é ".repeat(4_000)}`.slice(
  0,
  CHART_VALUES_MAX_LENGTH - 1,
);
const labelled = (labels: object) => ({ workloads: { backend: { labels }, frontend: { labels: { app: "web" } } } });

describe("the charts of the kind Repository", () => {
  let admin: ApiCalls;

  beforeAll(async () => {
    admin = administrator(plane);
  }, 60_000);

  test.each([
    [
      "values that environments may override",
      { overridable: ["backend.cache.size", "frontend.theme", "backend.imageX"] },
    ],
    [
      "a chart of a folder with a space",
      { chart: { repoUrl: "https://git.test/My%20Project/_git/c", path: ".", revision: "main" } },
    ],
    ["a chart of a Helm repository", at("https://charts.test/stable", { chart: "shop", version: "1.2.3" })],
    [
      "a version with all that it may have",
      at("https://charts.test", { chart: "Shop_a.b", version: "v1.2.3-rc.1+x.7" }),
    ],
    ["a chart of an OCI registry", at("oci://registry.test:5000/charts", { chart: "shop", version: "1.2.3" })],
    ["a chart at the root of an OCI registry", at("oci://registry.test", { chart: "shop-api", version: "0.0.1" })],
    [
      "the chart of the commit",
      {
        cloneUrl: "https://git.test/shop.git",
        ...at("https://git.test/shop.git", { path: "chart", revision: "{commit}" }),
      },
    ],
    [
      "values with each reference",
      mapped(
        REFERENCES.map(
          ({ name }, at) => `a${at}: x \${${name.replace("(n)", "(20)").replace("<name>", "admin")}}`,
        ).join("\n"),
      ),
    ],
    ["values with literals", mapped("a: $${b} $$${c} $d $ $(e) {f} }\n# $")],
    ["values of the greatest length", mapped(`${full}"`)],
    [
      "overridable values of the chart's own",
      mapped("a: ${suspended}", { overridable: ["image.pullPolicy", "replicaCount", "backend.image", "secret.name"] }),
    ],
    [
      "labels of both components",
      labelled({
        "app.kubernetes.io/name": "shop",
        app: "",
        [`${"a".repeat(63)}.test/${"B".repeat(63)}`]: "x".repeat(63),
      }),
    ],
    ["ten labels", labelled(Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`l${at}`, "x"])))],
    ["overridable values that a config set may map", { chart: place, overridable: ["image.pullPolicy"] }],
  ])("accepts %s", async (_, spec) => {
    expect(await admin.create(dryRun, repositoryObject(spec))).toMatchObject({ status: 201 });
  });

  test.each([
    [
      "a frontend's chart",
      { type: "frontend", chart: { repoUrl: "https://git.test/c.git", path: ".", revision: "main" } },
      "only a backend repository names a chart",
    ],
    [
      "a frontend's workloads",
      { type: "frontend", workloads: { frontend: { labels: { app: "web" } } } },
      "only a backend repository names workloads: its chart makes those of the frontend, too",
    ],
    [
      "a selector of no labels",
      labelled({}),
      "spec.workloads.backend.labels in body should have at least 1 properties",
    ],
    [
      "a selector of eleven labels",
      labelled(Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`l${at}`, "x"]))),
      "spec.workloads.backend.labels: Too many",
    ],
    ["a value that no label has", labelled({ app: "a b" }), "spec.workloads.backend.labels.app in body should match"],
    ["a value that is too long", labelled({ app: "x".repeat(64) }), "spec.workloads.backend.labels.app: Too long"],
    ...["a b", "", "/a", "a/", "a/b/c", "-a", "ü", "x".repeat(318)].map((key): [string, object, string] => [
      `the key '${key.slice(0, 5)}' of a label`,
      labelled({ [key]: "x" }),
      "a key is no name of a label",
    ]),
    ["a selector of nothing", { workloads: { backend: {} } }, "spec.workloads.backend.labels: Required value"],
    ...["c.git?a=b", "c(1).git", "team/../evil.git", "team/%2e%2e/evil.git"].map((place): [string, object, string] => [
      `a chart at ${place}`,
      { chart: { repoUrl: `https://git.test/${place}`, path: ".", revision: "main" } },
      "spec.chart.repoUrl in body should match",
    ]),
    ...[
      "image",
      "commit",
      "pullPolicy",
      "port",
      "host",
      "url",
      "healthPath",
      "env",
      "replicas",
      "resources.limits",
    ].map((field): [string, object, string] => [
      `an override of ${field}`,
      { overridable: ["backend.cache", `frontend.${field}`] },
      "overridable names no path that the platform sets",
    ]),
    [
      "an override that JavaScript could trip over",
      { overridable: ["backend.a.__proto__.b"] },
      "overridable names no path",
    ],
    ...[
      "oci://registry.test/charts/*",
      "oci://registry.test/charts/../evil",
      "oci://registry.test/Charts",
      "oci://registry.test/charts/",
      "oci://user:word@registry.test/charts",
      "oci://registry.test/charts?a=b",
      "oci://",
    ].map((repoUrl): [string, object, string] => [
      `a chart at ${repoUrl}`,
      at(repoUrl, { chart: "shop", version: "1.2.3" }),
      "spec.chart.repoUrl in body should match",
    ]),
    ...["1.2", "1.x", "^1.2.3", "~1.2.3", ">=1.0.0", "1.2.3 - 2.0.0", "*", "latest", "1.2.3-", "{commit}"].map(
      (version): [string, object, string] => [
        `the version ${version}`,
        at("https://charts.test", { chart: "shop", version }),
        "spec.chart.version: Invalid value: is no exact version, such as 1.2.3",
      ],
    ),
    ...["{branch}", "x-{commit}", "{commit}-x", "{commit", "{}", "a}"].map((revision): [string, object, string] => [
      `the revision ${revision}`,
      at("https://git.test/c.git", { path: ".", revision }),
      "spec.chart.revision: Invalid value: {commit}, and nothing beside it, is the only text in braces",
    ]),
    [
      "the commit of another repository",
      {
        cloneUrl: "https://git.test/shop.git",
        ...at("https://git.test/other.git", { path: ".", revision: "{commit}" }),
      },
      "spec.chart.revision: Invalid value: {commit} is a commit of the Repository's own code: chart.repoUrl has to be the same text as cloneUrl",
    ],
    ...(
      [
        [
          "a path in a Helm repository",
          "https://charts.test",
          { path: ".", chart: "shop", version: "1.2.3" },
          "one pair",
        ],
        ["a version of a git repository", "https://git.test", { path: ".", version: "1.2.3" }, "name one pair of them"],
        ["a Helm repository without a version", "https://charts.test", { chart: "shop" }, "both chart and version"],
        ["a Helm repository without a chart", "https://charts.test", { version: "1.2.3" }, "both chart and version"],
        ["an OCI registry alone", "oci://registry.test/charts", {}, "both chart and version"],
        [
          "an OCI registry with a path",
          "oci://registry.test/c",
          { path: ".", revision: "1.2.3" },
          "no path and no revision",
        ],
        ["a git repository without a path", "https://git.test/c.git", { revision: "main" }, "both path and revision"],
        ["a git repository without a revision", "https://git.test/c.git", { path: "." }, "both path and revision"],
        ["a chart without a place", "https://git.test/c.git", {}, "both path and revision"],
        [
          "capitals in an OCI registry",
          "oci://registry.test/c",
          { chart: "Shop", version: "1.2.3" },
          "lower-case letters",
        ],
      ] as const
    ).map(([what, repoUrl, more, words]): [string, object, string] => [what, at(repoUrl, more), words]),
    ...["../shop", "shop/../x", ".", "shop*", ""].map((chart): [string, object, string] => [
      `the chart '${chart}'`,
      at("https://charts.test", { chart, version: "1.2.3" }),
      "spec.chart.chart in body should match",
    ]),
    [
      "a login in the address of the chart",
      { chart: { repoUrl: "https://reader:word@git.test/c.git", path: ".", revision: "main" } },
      "spec.chart.repoUrl in body should match",
    ],
    ...["environment.name", "secret.name", "database", "imagePullSecrets", "suspended", "backend"].map(
      (path): [string, object, string] => [
        `an override of ${path} in the platform's layout`,
        { overridable: [path] },
        "overridable names no path that the platform sets",
      ],
    ),
    ["an override by another syntax", { overridable: ["a[0]"] }, "spec.overridable[0] in body should match"],
    [
      "an override of the chart's own that JavaScript could trip over",
      mapped("a: 1", { overridable: ["__proto__.a"] }),
      "overridable names no path with __proto__",
    ],
    ...[
      ["a: ${backend.images}", "${backend.images}"],
      ["a: 1\nb: $${x} ${frontend.image} $$${y} ${nope} ${also}", "${nope}"],
      ["a: ${", "${"],
      ["a: ${backend.image", "${backend.image"],
      ["a: ${secret.value}", "${secret.value}"],
      ["${a}: 1", "${a}"],
      [`${full.slice(0, -8)} \${é}"`, "${é}"],
    ].map(([values = "", unknown]): [string, object, string] => [
      `the reference ${unknown} in ${values.length} characters`,
      mapped(values),
      `spec.chart.values: Invalid value: "`,
    ]),
    ["values that are too long", mapped(`${full}""`), "spec.chart.values: Too long"],
    [
      "a reference to a host that none can be",
      mapped("a: ${hosts.a-name-of-12}", { hosts: [{ name: "admin" }] }),
      `spec.chart.values: Invalid value: "`,
    ],
  ])("refuses %s, and says so", async (_, spec, words) => {
    const reply = await admin.create(dryRun, repositoryObject(spec));
    expect(reply).toMatchObject({ status: 422 });
    expect(reply.message).toContain(words);
  });

  test("names an unknown reference, and those that there are", async () => {
    const reply = await admin.create(dryRun, repositoryObject(mapped("a: ${suspended} ${backend.img} ${x}")));
    expect(reply).toMatchObject({ status: 422 });
    expect(reply.message).toContain(`': '\${backend.img}' is not known: ${REFERENCES_SENTENCE}`.slice(3));
    expect(REFERENCES_SENTENCE).toContain("backend.image.tag, backend.pullPolicy, backend.commit");
  });
});
