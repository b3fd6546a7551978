import { beforeAll, describe, expect, test } from "@jest/globals";
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

const hostsNamed = (count: number, length: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `h${at}`.padEnd(length, "x") }));
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
    [
      "a frontend's seed",
      { type: "frontend", database: { seed: { image: "seed:1", path: "/data.sql", format: "sql" } } },
      "only a backend repository has a seed of the database",
    ],
    ["a frontend's hosts", { type: "frontend", hosts: [{ name: "admin" }] }, "only a backend repository names hosts"],
    ["runs for comments", { pipeline: { events: ["issue_comment"] } }, 'Unsupported value: "issue_comment"'],
    ["no event whose runs count", { pipeline: { events: [] } }, "spec.pipeline.events in body should have at least 1"],
    ["no workflow", { pipeline: { workflows: [] } }, "spec.pipeline.workflows in body should have at least 1"],
  ])("refuses %s, and says so", async (_, spec, words) => {
    const reply = await admin.create(dryRun, repositoryObject(spec));
    expect(reply).toMatchObject({ status: 422 });
    expect(reply.message).toContain(words);
  });
});
