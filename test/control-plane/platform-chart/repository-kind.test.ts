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
const hostsNamed = (count: number, length: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `h${at}`.padEnd(length, "x") }));
const labelled = (labels: object) => ({ workloads: { backend: { labels }, frontend: { labels: { app: "web" } } } });
const withTag = (tagTemplate: string) => ({ image: { repository: "registry.test/shop-api", tagTemplate } });

describe("the kind Repository", () => {
  let admin: ApiCalls;

  beforeAll(async () => {
    admin = administrator(plane);
  }, 60_000);

  test.each([
    ["the smallest", {}],
    ["a branch of folders", { defaultBranch: "release/1.2.x" }],
    ["a health path of many segments", { healthPath: "/api/v1/healthz/" }],
    [
      "values that environments may override",
      { overridable: ["backend.cache.size", "frontend.theme", "backend.imageX"] },
    ],
    [
      "all rules of webhooks",
      {
        provider: "repohost",
        hostId: "4711",
        fullName: "shop/shop-api",
        maxEnvironments: 0,
        companionRepository: "shop-web",
        pullRequest: {
          enabled: true,
          createOn: ["opened", "labeled"],
          deleteOn: ["merged"],
          skipDraft: true,
          requiredLabels: ["preview"],
          branchPattern: "(feature|fix)/.+",
          ttlHours: 12,
          configSet: "web",
          forks: "approve",
        },
        pipeline: {
          workflows: [".github/workflows/build.yml", "Build image"],
          events: ["push", "schedule"],
          createOnSuccess: false,
          onCanceled: "any",
        },
        notify: { chatChannel: "#shop", events: ["ready", "failed"] },
        webhookSecretRef: { name: "shop-webhook", key: "latest" },
      },
    ],
    [
      "credentials of a private host and a private registry",
      { credentialsRef: { name: "shop-git", key: "latest" }, imagePullSecretRef: { name: "shop-registry", key: "3" } },
    ],
    ...["http://127.0.0.1:9300/shop.git", "http://localhost/shop.git", "http://[::1]:9300/shop.git"].map(
      (cloneUrl): [string, object] => [
        `credentials at ${cloneUrl}`,
        { cloneUrl, credentialsRef: { name: "shop-git", key: "latest" } },
      ],
    ),
    ["a repository that everybody reads by http", { cloneUrl: "http://git.test/@shop/shop.git" }],
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
    ["further hosts", { hosts: [{ name: "admin", healthPath: "/ping" }, { name: "a2-b" }, { name: "x" }] }],
    ["as many hosts as there may be", { hosts: hostsNamed(10, 11) }],
    // RE2 takes linear time for any pattern.
    ["a pattern that others choke on", { pullRequest: { branchPattern: "(a+)+$" } }],
  ])("accepts %s", async (_, spec) => {
    expect(await admin.create(dryRun, repositoryObject(spec))).toMatchObject({ status: 201 });
  });

  test.each([
    "{commit}",
    "latest",
    "sha-{commit:7}",
    "{commit:40}_{mergeCommit:12}",
    "pr-{pullRequest}",
    "{branch}.{short}",
    "_{pipeline}-{mergeCommit}",
  ])("accepts the tag template %s", async (tagTemplate) => {
    expect(await admin.create(dryRun, repositoryObject(withTag(tagTemplate)))).toMatchObject({ status: 201 });
  });

  const NO_PLACEHOLDER =
    "has a placeholder that does not exist, or a brace that is not closed; the placeholders are {commit}, {commit:N}";

  test.each([
    ["sha-{sha7}", NO_PLACEHOLDER],
    ["pr-{number}", NO_PLACEHOLDER],
    ["{commit", NO_PLACEHOLDER],
    ["commit}", NO_PLACEHOLDER],
    ["{}", NO_PLACEHOLDER],
    ["{{commit}}", NO_PLACEHOLDER],
    ["{commit:6}", NO_PLACEHOLDER],
    ["{commit:41}", NO_PLACEHOLDER],
    ["{commit:}", NO_PLACEHOLDER],
    ["{branch:7}", NO_PLACEHOLDER],
    ["{ commit }", NO_PLACEHOLDER],
    ["v:{commit}", "has a character that the tag of an image can't have"],
    ["-{commit}", "has a character that the tag of an image can't have"],
    ["größe", "has a character that the tag of an image can't have"],
    ["", "spec.image.tagTemplate in body should be at least 1 chars long"],
  ])("refuses the tag template '%s', and says what there is", async (tagTemplate, words) => {
    const reply = await admin.create(dryRun, repositoryObject(withTag(tagTemplate)));
    expect(reply).toMatchObject({ status: 422 });
    expect(reply.message).toContain("spec.image.tagTemplate");
    expect(reply.message).toContain(words);
  });

  test.each(["default", "api", "cleanup-failed"])("accepts the name %s", async (name) => {
    expect(await admin.create(dryRun, repositoryObject({}, name))).toMatchObject({ status: 201 });
  });

  test.each([
    ["reload", "is reserved"],
    ["kube-api", "is reserved"],
    ["ephemeral-api", "is reserved"],
    ["shop--api", "must not contain '--'"],
  ])("refuses the name %s, and says so", async (name, words) => {
    const reply = await admin.create(dryRun, repositoryObject({}, name));
    expect(reply).toMatchObject({ status: 422 });
    expect(reply.message).toContain(words);
  });

  test.each([
    ["another host as health path", { healthPath: "//169.254.169.254/x" }, "spec.healthPath in body should match"],
    ["a health path with a query", { healthPath: "/a?b" }, "spec.healthPath in body should match"],
    [
      "a branch with a range",
      { defaultBranch: "a..b" },
      "spec.defaultBranch: Invalid value: a branch must not contain",
    ],
    [
      "a branch with an end",
      { defaultBranch: "a/" },
      "spec.defaultBranch: Invalid value: a branch must not end with '/'",
    ],
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
    [
      "a pattern that is none",
      { pullRequest: { branchPattern: "(a" } },
      "spec.pullRequest.branchPattern: Invalid value",
    ],
    ["a pattern that looks back", { pullRequest: { branchPattern: "(a)\\1" } }, "spec.pullRequest.branchPattern"],
    ["a pattern that looks ahead", { pullRequest: { branchPattern: "(?=a)b" } }, "spec.pullRequest.branchPattern"],
    ["an action that creates nothing", { pullRequest: { createOn: ["closed"] } }, 'Unsupported value: "closed"'],
    ["a TTL beyond a week", { pullRequest: { ttlHours: 169 } }, "should be less than or equal to 168"],
    [
      "a frontend's pull requests without a backend",
      { type: "frontend", pullRequest: { enabled: true } },
      "names the backend repository of them",
    ],
    ["a host's number that is none", { hostId: "0x1" }, "spec.hostId in body should match"],
    ["a name with a path", { fullName: "../x" }, "spec.fullName in body should match"],
    ["less than no environments", { maxEnvironments: -1 }, "should be greater than or equal to 0"],
    ...[
      "http://git.test/shop.git",
      "http://127.0.0.1.git.test/shop.git",
      "http://localhost.git.test/shop.git",
      "http://localhost:80.git.test/",
    ].map((cloneUrl): [string, object, string] => [
      `credentials at ${cloneUrl}`,
      { cloneUrl, credentialsRef: { name: "shop-git", key: "latest" } },
      "credentials are sent by https only",
    ]),
    ...[
      "https://reader:word@git.test/shop.git",
      "https://word@git.test/shop.git",
      "http://a\\b@git.test/",
      "https:///shop.git",
      "https://git.test?@evil.test/shop.git",
      "https://git.test/shop.git?ref=main",
      "https://git.test/shop.git#main",
    ].map((cloneUrl): [string, object, string] => [
      `the address ${cloneUrl}`,
      { cloneUrl },
      "spec.cloneUrl in body should match",
    ]),
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
    [
      "a credential that is no id",
      { credentialsRef: { name: "../shop", key: "latest" } },
      "spec.credentialsRef.name in body should match",
    ],
    [
      "a credential of no version",
      { imagePullSecretRef: { name: "shop-registry", key: "0" } },
      "spec.imagePullSecretRef.key in body should match",
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
    ...["", "Admin", "2fa", "a.b", "-a", "a-", "a_b"].map((name): [string, object, string] => [
      `a host called '${name}'`,
      { hosts: [{ name }] },
      "spec.hosts[0].name in body should match",
    ]),
    ["a host whose label could be too long", { hosts: hostsNamed(1, 12) }, "spec.hosts[0].name: Too long"],
    ...["api", "backend", "frontend"].map((name): [string, object, string] => [
      `the platform's own host ${name}`,
      { hosts: [{ name }] },
      "is reserved, as are api, backend, frontend",
    ]),
    ["a host twice", { hosts: [{ name: "a" }, { name: "a", healthPath: "/x" }] }, "spec.hosts[1]: Duplicate value"],
    ["too many hosts", { hosts: hostsNamed(11, 4) }, "spec.hosts: Too many"],
    [
      "another host as a host's health path",
      { hosts: [{ name: "a", healthPath: "//169.254.169.254/x" }] },
      "spec.hosts[0].healthPath in body should match",
    ],
    ["a frontend's hosts", { type: "frontend", hosts: [{ name: "admin" }] }, "only a backend repository names hosts"],
    [
      "a reference to a host that none can be",
      mapped("a: ${hosts.a-name-of-12}", { hosts: [{ name: "admin" }] }),
      `spec.chart.values: Invalid value: "`,
    ],
    ["runs for comments", { pipeline: { events: ["issue_comment"] } }, 'Unsupported value: "issue_comment"'],
    ["no event whose runs count", { pipeline: { events: [] } }, "spec.pipeline.events in body should have at least 1"],
    ["no workflow", { pipeline: { workflows: [] } }, "spec.pipeline.workflows in body should have at least 1"],
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
