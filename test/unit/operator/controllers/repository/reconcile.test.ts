import { describe, expect, test } from "@jest/globals";
import { RECONCILE_ANNOTATION } from "../../../../../crds/group.ts";
import type { RepositoryStatus } from "../../../../../crds/repository/repository.ts";
import {
  CredentialRejected,
  type RepositoryHost,
  RepositoryHostUnavailable,
} from "../../../../../operator/ports/repository-host.ts";
import {
  CREATED,
  commitA,
  configSetFixture,
  repositoryFixture,
} from "../../../../support/fixtures/environment/environment-fixture.ts";
import { type Given, pass, well } from "./reconciler-pass.ts";

const withoutBranch: RepositoryHost = { head: async () => undefined };
const asking = (credential: string): RepositoryHost => ({
  head: async (_url, _branch, brought) => {
    if (brought === undefined) throw new RepositoryHostUnavailable("it answered 401");
    if (brought.reveal() !== credential) throw new CredentialRejected("it answered 401: renew it");
    return commitA;
  },
});
const credentialsRef = { name: "shop", key: "latest" };
const away: RepositoryHost = {
  head: async () => {
    throw new RepositoryHostUnavailable("https://git.test/shop-api.git can't be asked: no answer within 10 s");
  },
};

function ill(): RepositoryStatus {
  return { ...well(), reachable: false, conditions: reasoned("Unreachable") };
}

const reasoned = (reason: string) =>
  (well().conditions ?? []).map((condition) => ({ ...condition, status: "False" as const, reason }));

function broken(): RepositoryStatus {
  return { ...ill(), reachable: true, conditions: reasoned("RulesInvalid") };
}

function unbound(): RepositoryStatus {
  return { ...ill(), conditions: reasoned("CredentialNotBound") };
}
const backend = repositoryFixture("shop-core");

describe("a check", () => {
  test.each<[string, Given, object]>([
    ["finds nothing wrong", {}, { reachable: true, conditions: [{ status: "True", reason: "Checked", message: "" }] }],
    [
      "says why the host can't be asked",
      { host: away },
      {
        reachable: false,
        conditions: [{ status: "False", reason: "Unreachable", message: expect.stringContaining("no answer") }],
      },
    ],
    [
      "misses the default branch",
      { host: withoutBranch, spec: { defaultBranch: "trunk" } },
      { reachable: true, conditions: [{ reason: "BranchNotFound", message: expect.stringContaining("'trunk'") }] },
    ],
    [
      "shows the host the credential that it asks for",
      { host: asking("reader:word"), spec: { credentialsRef }, credential: "reader:word" },
      { reachable: true, conditions: [{ reason: "Checked" }] },
    ],
    [
      "says that the host, which answers, rejects the credential",
      { host: asking("reader:word"), spec: { credentialsRef }, credential: "reader:expired" },
      {
        reachable: true,
        conditions: [{ status: "False", reason: "CredentialRejected", message: "it answered 401: renew it" }],
      },
    ],
    [
      "can't tell a private repository from a host that is away without a credential",
      { host: asking("reader:word") },
      { reachable: false, conditions: [{ reason: "Unreachable", message: "it answered 401" }] },
    ],
    [
      "shows the host nothing that the settings bind to others",
      { host: asking("reader:word"), spec: { credentialsRef, cloneUrl: "https://evil.test/shop.git" } },
      {
        reachable: false,
        conditions: [{ reason: "CredentialNotBound", message: expect.stringContaining("evil.test") }],
      },
    ],
    [
      "misses the credential",
      { host: asking("reader:word"), spec: { credentialsRef } },
      {
        reachable: false,
        conditions: [{ reason: "CredentialNotFound", message: expect.stringContaining("shop@latest") }],
      },
    ],
    [
      "finds what images are pulled with in order",
      { spec: { imagePullSecretRef: credentialsRef }, credential: "reader:word" },
      { reachable: true, conditions: [{ reason: "Checked" }] },
    ],
    [
      "shows the place of a chart nothing that the settings bind to others",
      {
        spec: {
          chart: { repoUrl: "https://evil.test/c.git", path: "shop", revision: "main", credentialsRef },
        },
        credential: "reader:word",
      },
      {
        reachable: true,
        conditions: [{ reason: "CredentialNotBound", message: expect.stringContaining("spec.chart.credentialsRef") }],
      },
    ],
    [
      "refuses what images are to be pulled with, and the host answers all the same",
      { spec: { imagePullSecretRef: credentialsRef }, credential: "word" },
      {
        reachable: true,
        conditions: [{ reason: "CredentialInvalid", message: expect.stringContaining("imagePullSecretRef") }],
      },
    ],
    [
      "misses the companion",
      { spec: { companionRepository: "shop-web" } },
      {
        conditions: [{ reason: "RulesInvalid", message: expect.stringContaining("no frontend Repository 'shop-web'") }],
      },
    ],
    [
      "refuses a companion of the same type",
      { spec: { companionRepository: "shop-core" }, others: [backend] },
      { conditions: [{ reason: "RulesInvalid" }] },
    ],
    [
      "misses a host that its chart's values refer to",
      {
        spec: {
          chart: {
            repoUrl: "https://git.test/c.git",
            path: ".",
            revision: "main",
            values: "a: ['${hosts.admin}', 'x ${hosts.dcos.url}']",
          },
          hosts: [{ name: "admin" }],
        },
      },
      {
        conditions: [
          {
            status: "False",
            reason: "RulesInvalid",
            message: "spec.chart.values: ${hosts.dcos}: spec.hosts lists no host 'dcos'",
          },
        ],
      },
    ],
    [
      "misses the config set",
      { spec: { pullRequest: { configSet: "web" } } },
      { conditions: [{ reason: "RulesInvalid", message: expect.stringContaining("no config set 'web'") }] },
    ],
    [
      "refuses a config set for production",
      { spec: { pullRequest: { configSet: "live" } }, configSets: [configSetFixture("live", { production: true })] },
      { conditions: [{ reason: "RulesInvalid", message: expect.stringContaining("production") }] },
    ],
  ])("%s", async (_what, given, expected) => {
    const { status } = await pass(given);
    expect(status).toMatchObject([{ ...expected, observedGeneration: 1, lastCheckedAt: CREATED }]);
  });

  test.each<[string, Given, boolean]>([
    ["it was never checked", {}, true],
    ["it was checked a moment ago", { status: well() }, false],
    ["an hour has passed", { status: well(), minutes: 60 }, true],
    ["a clock ran ahead", { status: well(600), minutes: 0 }, true],
    ["it changed", { status: well(), repository: { generation: 2 } }, true],
    ["a check is requested", { status: well(), repository: { annotations: { [RECONCILE_ANNOTATION]: "a" } } }, true],
    [
      "that was answered",
      {
        status: { ...well(), lastHandledReconcileAt: "a" },
        repository: { annotations: { [RECONCILE_ANNOTATION]: "a" } },
      },
      false,
    ],
    [
      "it carries what is too long for a request",
      { status: well(), repository: { annotations: { [RECONCILE_ANNOTATION]: "a".repeat(257) } } },
      false,
    ],
    ["its companion is gone", { status: well(), spec: { companionRepository: "shop-web" } }, true],
    [
      "the config set that it lacked is there",
      { status: broken(), spec: { pullRequest: { configSet: "web" } }, configSets: [configSetFixture("web")] },
      true,
    ],
    [
      "the config set that it lacked is still away",
      { status: broken(), spec: { pullRequest: { configSet: "web" } } },
      false,
    ],
    [
      "the settings bind its credential no longer",
      { status: well(), spec: { credentialsRef: { name: "other", key: "latest" } } },
      true,
    ],
    [
      "the settings bind what its images are pulled with no longer",
      { status: well(), spec: { imagePullSecretRef: { name: "other", key: "latest" } } },
      true,
    ],
    ["the settings bind its credential by now", { status: unbound(), spec: { credentialsRef } }, true],
    [
      "the settings still bind its credential to others",
      { status: unbound(), spec: { credentialsRef: { name: "other", key: "latest" } } },
      false,
    ],
    [
      "its host is unavailable, whatever its rules",
      { status: ill(), spec: { companionRepository: "shop-web" } },
      false,
    ],
    ["something was wrong five minutes ago", { status: ill(), minutes: 5 }, true],
    ["something was wrong a minute ago", { status: ill(), minutes: 1 }, false],
  ])("when %s", async (_when, given, isChecked) => {
    const { status, result } = await pass(given);
    expect(status).toHaveLength(isChecked ? 1 : 0);
    expect(result?.requeueAfterMs).toBeGreaterThan(0);
  });

  test.each([
    { name: "its host, of which is known what was", status: { ...ill(), reachable: true }, reachable: true },
    { name: "a host that did not answer", status: ill(), reachable: false },
    { name: "a host of which nothing is known", reachable: false },
  ])("says that the secret manager is away, without which it can't ask $name", async ({ status, reachable }) => {
    const given = { isAway: true, spec: { credentialsRef }, minutes: 5, ...(status ? { status } : {}) };
    const { status: written } = await pass(given);
    const conditions = [
      { status: "False", reason: "SecretManagerUnavailable", message: expect.stringContaining("away") },
    ];
    expect(written).toMatchObject([{ reachable, conditions }]);
  });

  test("answers the request that was there before it", async () => {
    const { status } = await pass({ repository: { annotations: { [RECONCILE_ANNOTATION]: "token" } } });
    expect(status).toMatchObject([{ lastHandledReconcileAt: "token" }]);
  });

  test("has the time of its last change", async () => {
    const { status } = await pass({ status: ill(), minutes: 5, host: away });
    expect(status).toMatchObject([{ conditions: [{ lastTransitionTime: CREATED }] }]);
  });
});
