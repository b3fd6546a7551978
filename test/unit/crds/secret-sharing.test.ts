import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import type { RepositorySpec } from "../../../crds/repository/repository.ts";
import { isSharedWith, type SharingRule } from "../../../crds/secret-sharing.ts";
import { repositoryFixture } from "../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";

const rule = (parts: Partial<SharingRule>): SharingRule => ({ ids: [], labels: {}, groups: ["shop"], ...parts });
const sharing = (shared: readonly SharingRule[], named: object = {}, spec: Partial<RepositorySpec> = {}) => {
  const { secrets = {}, ...more } = named as { readonly secrets?: object };
  const settings = settingsFrom({ ...testSettings, ...more, secrets: { ...secrets, shared } });
  return { settings, repositories: { list: () => [repositoryFixture("shop-api", spec)] } };
};
const payments = { team: "payments", use: "test" };

describe("a secret is shared with an environment", () => {
  test.each([
    { name: "not when nothing is shared", rules: [], groups: ["shop"], expected: false },
    { name: "when a rule for one of its groups names the id", rules: [rule({ ids: ["key"] })], expected: true },
    { name: "not when the id only begins alike", rules: [rule({ ids: ["key-two", "ke"] })], expected: false },
    { name: "not when the rule is for others", rules: [rule({ ids: ["key"], groups: ["billing"] })], expected: false },
    { name: "not without a rule", rules: [rule({ ids: ["key"] })], groups: [], expected: false },
    {
      name: "when it carries all labels of a rule",
      rules: [rule({ labels: payments })],
      labels: payments,
      expected: true,
    },
    {
      name: "not when it carries some of them",
      rules: [rule({ labels: payments })],
      labels: { team: "payments" },
      expected: false,
    },
    {
      name: "not when a label has another value",
      rules: [rule({ labels: { a: "1" } })],
      labels: { a: "2" },
      expected: false,
    },
    { name: "not by a rule without ids and labels", rules: [rule({})], labels: payments, expected: false },
    { name: "not when it is absent", rules: [rule({ labels: { a: "1" } })], labels: undefined, expected: false },
    {
      name: "not by a label that every object seems to have",
      rules: [rule({ labels: { constructor: "x" } })],
      labels: {},
      expected: false,
    },
    {
      name: "when any of several rules holds",
      rules: [rule({ ids: ["other"] }), rule({ labels: { a: "1" }, groups: ["x", "shop"] })],
      labels: { a: "1" },
      expected: true,
    },
  ] as const)("$name", async (row) => {
    const { rules, expected } = row;
    const groups = "groups" in row ? row.groups : ["shop"];
    const labels = "labels" in row ? row.labels : {};
    expect(await isSharedWith(sharing(rules), groups, { id: "key", labelsOf: async () => labels })).toBe(expected);
  });

  test.each([
    { name: "nothing is shared with the groups", rules: [rule({ labels: payments, groups: ["billing"] })] },
    { name: "rules go by ids", rules: [rule({ ids: ["other"] })] },
  ])("without a look at it where $name", async ({ rules }) => {
    const labelsOf = async () => {
      throw new Error("it was looked at");
    };
    expect(await isSharedWith(sharing(rules), ["shop"], { id: "key", labelsOf })).toBe(false);
  });
});

const ref = { name: "key", key: "latest" };
const git = { id: "git", kind: "gitea", apiUrl: "https://git.test/api/v1" };
const smtp = { host: "mail.test", from: "a@b.test", user: "u", passwordRef: ref };

describe("no label shares a secret that is", () => {
  const labelsOf = async () => payments;

  test.each([
    ["a credential of hosts", { secrets: { hostCredentials: [{ id: "key", hosts: ["git.test"] }] } }],
    ["the credential of the default chart", { defaultChart: { ...testSettings.defaultChart, credentialsRef: ref } }],
    ["the token of a host", { hosts: [{ ...git, token: ref }] }],
    ["a key of webhooks", { webhooks: { secrets: [ref] } }],
    ["a token of pipelines", { webhooks: { pipelineTokens: [ref] } }],
    ["the address of a chat", { notifications: { chat: { webhooks: [{ channel: "dev", urlRef: ref }] } } }],
    ["the password of the mail server", { notifications: { email: { smtp } } }],
  ])("%s in the settings", async (_what, named) => {
    const isShared = (id: string) =>
      isSharedWith(sharing([rule({ labels: payments })], named), ["shop"], { id, labelsOf });
    expect([await isShared("other"), await isShared("key")]).toEqual([true, false]);
  });

  test.each<Partial<RepositorySpec>>([
    ...["webhookSecretRef", "formerWebhookSecretRef", "credentialsRef", "imagePullSecretRef"].map((field) => ({
      [field]: ref,
    })),
    { chart: { repoUrl: "https://git.test/c.git", path: ".", revision: "main", credentialsRef: ref } },
  ])("%j of a Repository", async (spec) => {
    const shared = [rule({ labels: payments }), rule({ ids: ["key"] })];
    const isShared = (id: string) => isSharedWith(sharing(shared, {}, spec), ["shop"], { id, labelsOf });
    expect([await isShared("other"), await isShared("key")]).toEqual([true, false]);
  });
});
