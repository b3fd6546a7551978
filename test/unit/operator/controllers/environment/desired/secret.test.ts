import { describe, expect, test } from "@jest/globals";
import type { SecretStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { Sensitive } from "../../../../../../crds/sensitive.ts";
import {
  accessBindingObject,
  desiredPodSecret,
  podSecretName,
  secretObject,
} from "../../../../../../operator/controllers/environment/desired/secret.ts";
import {
  environmentFixture,
  fixtureSettings,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";

const stored = (values: Record<string, string>) =>
  new Map(Object.entries(values).map(([name, value]) => [name, { version: 1, value: new Sensitive(value) }]));

describe("the Secret that the pods see", () => {
  test("holds each value under its variable, byte for byte, and can't be edited", () => {
    const values = { TOKEN: "pässwörd $X {{ y }}\n", EMPTY: "" };
    const object = secretObject(environmentFixture(), "environment-secrets-x", stored(values));
    expect(object).toMatchObject({
      kind: "Secret",
      type: "Opaque",
      immutable: true,
      metadata: { name: "environment-secrets-x", namespace: "env-shop" },
    });
    const data = object.data as Record<string, string>;
    const decoded = Object.entries(data).map(([name, text]) => [name, Buffer.from(text, "base64").toString()]);
    expect(Object.fromEntries(decoded)).toEqual(values);
  });
});

describe("its name", () => {
  const one: SecretStatus = { name: "ONE", version: 1 };
  const two: SecretStatus = { name: "TWO", version: 1 };
  const base = podSecretName([one, two]);

  test("is a DNS label that says nothing", () => expect(base).toMatch(/^environment-secrets-[0-9a-f]{8}$/));

  test.each<{ name: string; given: SecretStatus[] }>([
    { name: "in another order", given: [two, one] },
    { name: "when a rotation is answered that changed no value", given: [{ ...one, rotation: "2" }, two] },
  ])("stays: $name", ({ given }) => expect(podSecretName(given)).toBe(base));

  test.each<{ name: string; given: SecretStatus[] }>([
    { name: "one variable has a newer value", given: [{ ...one, version: 2 }, two] },
    { name: "another variable has", given: [one, { ...two, version: 2 }] },
    {
      name: "both have",
      given: [
        { ...one, version: 2 },
        { ...two, version: 2 },
      ],
    },
    { name: "a value comes from elsewhere", given: [{ ...one, source: "shared@latest" }, two] },
    { name: "a variable is more", given: [one, two, { name: "THREE", version: 1 }] },
    { name: "a variable is less", given: [one] },
    { name: "there is none", given: [] },
  ])("is another one when $name", ({ given }) => expect(podSecretName(given)).not.toBe(base));

  test("is the last that was made, else that of what is to be made", () => {
    const secrets = [one, two];
    expect(desiredPodSecret(environmentFixture({ status: { secrets } }))).toBe(base);
    const podSecrets = ["environment-secrets-a", "environment-secrets-b"];
    expect(desiredPodSecret(environmentFixture({ status: { secrets, podSecrets } }))).toBe("environment-secrets-b");
  });
});

test("only the platform's account has the operator's right in the namespace", () => {
  const settings = { ...fixtureSettings, serviceAccount: "operator", namespace: "somewhere" };
  expect(accessBindingObject(environmentFixture(), settings)).toMatchObject({
    kind: "RoleBinding",
    metadata: { namespace: "env-shop" },
    roleRef: { kind: "ClusterRole", name: "ephemeral-environment" },
    subjects: [{ kind: "ServiceAccount", name: "operator", namespace: "somewhere" }],
  });
});
