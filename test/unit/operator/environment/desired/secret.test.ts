import { describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import {
  accessBindingObject,
  currentVersion,
  secretName,
  secretObject,
} from "../../../../../operator/environment/desired/secret.ts";
import { environmentFixture, fixtureSettings } from "../../../../support/environment-fixture.ts";

const stored = (values: Record<string, string>) =>
  new Map(Object.entries(values).map(([name, value]) => [name, { version: 1, value: new Sensitive(value) }]));

describe("the Secret that the pods see", () => {
  test("holds each value under its variable, byte for byte, and can't be edited", () => {
    const values = { TOKEN: "pässwörd $X {{ y }}\n", EMPTY: "" };
    const object = secretObject(environmentFixture(), 3, stored(values));
    expect(object).toMatchObject({
      ...{ kind: "Secret", type: "Opaque", immutable: true },
      metadata: { name: "environment-secrets-3", namespace: "env-shop" },
    });
    const data = object.data as Record<string, string>;
    const decoded = Object.entries(data).map(([name, text]) => [name, Buffer.from(text, "base64").toString()]);
    expect(Object.fromEntries(decoded)).toEqual(values);
  });

  test.each([
    ["before anything was stored", undefined, 1],
    ["without any secret", [], 1],
    ["of several versions", [2, 10, 9], 10],
  ])("is named by the newest version: %s", (_when, versions, expected) => {
    const secrets = versions?.map((version) => ({ name: `V${version}`, version }));
    const environment = environmentFixture(secrets === undefined ? {} : { status: { secrets } });
    expect(currentVersion(environment)).toBe(expected);
    expect(secretName(currentVersion(environment))).toBe(`environment-secrets-${expected}`);
  });
});

test("the operator's right in the namespace is the platform's account's and nobody else's", () => {
  const settings = { ...fixtureSettings, serviceAccount: "operator", namespace: "somewhere" };
  expect(accessBindingObject(environmentFixture(), settings)).toMatchObject({
    kind: "RoleBinding",
    metadata: { namespace: "env-shop" },
    roleRef: { kind: "ClusterRole", name: "ephemeral-environment" },
    subjects: [{ kind: "ServiceAccount", name: "operator", namespace: "somewhere" }],
  });
});
