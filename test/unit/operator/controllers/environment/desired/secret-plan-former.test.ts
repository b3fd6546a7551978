import { describe, expect, test } from "@jest/globals";
import type { EnvironmentSpec } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { plannedStatus } from "../../../../../../operator/controllers/environment/desired/planned-secret.ts";
import { formerPlan } from "../../../../../../operator/controllers/environment/desired/secret-plan.ts";
import {
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { planInputFixture } from "../../../../../support/fixtures/plan-input.ts";
import { alias, type Given, own, plan, refers, url } from "./plan-of-secrets.ts";

type Secrets = NonNullable<EnvironmentSpec["secrets"]>;

describe("the plan of before", () => {
  const before = [
    { name: "ALIAS", version: 2, source: `${alias}-KEY@latest` },
    own("DATABASE_PASSWORD", 3, "a"),
    url(3, { own: 1 }),
    own("KEY", 2),
    { name: "MAPS", version: 7, rotation: "b", source: "maps@latest", own: 2 },
    own("P", 1),
  ];
  const formerOf = (requested: Secrets) => {
    const environment = environmentFixture({ spec: { secrets: requested }, status: { secrets: before } });
    const backend = repositoryFixture("shop-api", { secrets: [{ name: "KEY" }] });
    return formerPlan(planInputFixture(environment, { backend }));
  };

  test("is what the status has, whatever is asked for now", () => {
    const plan = formerOf({ provided: ["P", "NEW"], rotate: { KEY: "now", UNKNOWN: "1" } });
    expect(plannedStatus(plan)).toEqual(before);
    expect(plan.map(({ kind }) => kind)).toEqual(["alias", "own", "derived", "own", "shared", "own"]);
    expect(plan.map((secret) => ("of" in secret ? secret.of : undefined))).toEqual([
      "KEY",
      undefined,
      "DATABASE_PASSWORD",
      undefined,
      "maps",
      undefined,
    ]);
  });

  test.each([
    {
      name: "generates what is lost and not provided",
      requests: { provided: ["P"] },
      expected: ["DATABASE_PASSWORD", "KEY"],
    },
    { name: "makes nothing when the spec says so", requests: { autoGenerate: false }, expected: [] },
  ])("$name", ({ requests: requested, expected }) => {
    expect(formerOf(requested).flatMap((one) => ("generate" in one ? [one.name] : []))).toEqual(expected);
  });
});

describe("it can't be made, and what runs stays, when", () => {
  const keys = { sharedApiKeys: [{ name: "MAPS", secretRef: { name: "maps", key: "2" } }] };
  test.each<{ name: string; given: Given; reason: string; named: string }>([
    {
      name: "a secret variable has a plain value",
      given: { env: [{ name: "KEY", value: "seen" }] },
      reason: "SecretInPlainText",
      named: "KEY",
    },
    {
      name: "a provided one has a plain value",
      given: { requested: { provided: ["P"] }, env: [{ name: "P", value: "seen" }] },
      reason: "SecretInPlainText",
      named: "P",
    },
    {
      name: "components refer to different secrets",
      given: { env: [refers("X", "one")], frontendEnv: [refers("X", "two")] },
      reason: "SecretContradictory",
      named: "X",
    },
    {
      name: "a variable is provided and referred to",
      given: { requested: { provided: ["X"] }, env: [refers("X", "one")] },
      reason: "SecretContradictory",
      named: "X",
    },
    {
      name: "shared API keys are asked for without a config set",
      given: { requested: { useSharedApiKeys: true } },
      reason: "SharedApiKeysMissing",
      named: "useSharedApiKeys",
    },
    {
      name: "the config set has none",
      given: { requested: { useSharedApiKeys: true }, configSet: {} },
      reason: "SharedApiKeysMissing",
      named: "useSharedApiKeys",
    },
    {
      name: "the config set is for other groups",
      given: {
        requested: { useSharedApiKeys: true },
        configSet: { ...keys, access: { groups: ["x"] } },
        groups: ["y"],
      },
      reason: "SecretNotShared",
      named: "useSharedApiKeys",
    },
    {
      name: "nothing is generated and something is missing",
      given: { listed: ["A", "B", "C"], requested: { autoGenerate: false, provided: ["A"] }, env: [refers("B", "b")] },
      reason: "SecretsMissing",
      named: "C:",
    },
    {
      name: "nothing is generated, and a database has no password",
      given: { listed: [], requested: { autoGenerate: false }, database: true },
      reason: "SecretsMissing",
      named: "DATABASE_PASSWORD:",
    },
    {
      name: "a database's password has a plain value",
      given: { listed: [], database: true, env: [{ name: "DATABASE_PASSWORD", value: "seen" }] },
      reason: "SecretInPlainText",
      named: "DATABASE_PASSWORD:",
    },
    {
      name: "what is no variable is to be rotated",
      given: { requested: { rotate: { KEY: "1", KEYS: "1" } } },
      reason: "RotationUnknown",
      named: "KEYS:",
    },
  ])("$name", ({ given, reason, named }) => {
    const { problem } = plan(given);
    expect(problem).toMatchObject({ state: "failed", reason, message: expect.stringContaining(named) });
    expect(problem?.message).not.toContain("seen");
  });
});
