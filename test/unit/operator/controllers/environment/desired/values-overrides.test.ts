import { describe, expect, test } from "@jest/globals";
import type { ConfigSetSpec } from "../../../../../../crds/config-set.ts";
import type { EnvironmentSpec } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { environmentValues } from "../../../../../../operator/controllers/environment/desired/values.ts";
import { fixtureSettings, repositoryFixture } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { planInputFixture } from "../../../../../support/fixtures/plan-input.ts";
import { backendValues, shop } from "./shop-values.ts";

describe("what people choose", () => {
  const env = (value: string) => [{ name: "LEVEL", value }];
  const chosen = (spec: EnvironmentSpec["overrides"], configSet?: ConfigSetSpec) => {
    const overridable = ["backend.a", "backend.b", "backend.cache.size"];
    const repositories = { backend: repositoryFixture("shop-api", { overridable }) };
    const environment = shop({ spec: spec ? { overrides: spec } : {} });
    return (
      environmentValues(planInputFixture(environment, repositories, configSet), fixtureSettings) as { backend: object }
    ).backend;
  };

  test.each([
    { name: "nothing: no word about it", spec: undefined, set: undefined, expected: backendValues },
    { name: "an empty config set: no word about it", spec: {}, set: {}, expected: backendValues },
    {
      name: "the config set adds values of the chart and variables",
      spec: undefined,
      set: { env: env("info"), helmValues: { backend: { replicas: 2, cache: { size: 1 } } } },
      expected: { ...backendValues, replicas: 2, cache: { size: 1 }, env: [...env("info"), ...backendValues.env] },
    },
    {
      name: "overrides win, each below its own object",
      spec: {
        backend: { replicas: 3, env: env("debug"), resources: { requests: { cpu: "2" } } },
        values: [{ path: "backend.cache.size", value: "64" }],
      },
      set: {
        env: env("info"),
        helmValues: {
          backend: { resources: { requests: { cpu: "1", memory: "1Gi" } }, cache: { kind: "lru", size: 1 } },
        },
      },
      expected: {
        ...backendValues,
        replicas: 3,
        env: [...env("debug"), ...backendValues.env],
        resources: { requests: { cpu: "2", memory: "1Gi" }, limits: { memory: "1Gi" } },
        cache: { kind: "lru", size: 64 },
      },
    },
    {
      name: "an override that no Repository lists is left out",
      spec: { values: [{ path: "backend.cache.kind", value: "1" }] },
      set: undefined,
      expected: backendValues,
    },
    {
      name: "users can't change what the platform sets",
      spec: undefined,
      set: {
        helmValues: {
          backend: { image: "x", commit: "x", pullPolicy: "Never", port: 1, host: "x", url: "x", healthPath: "/x" },
        },
      },
      expected: backendValues,
    },
    {
      name: "values of a missing component are ignored",
      spec: undefined,
      set: { helmValues: { frontend: { replicas: 2 } } },
      expected: backendValues,
    },
    {
      name: "a public URL of one's own wins",
      spec: { backend: { env: [{ name: "PUBLIC_URL", value: "https://shop.example" }] } },
      set: undefined,
      expected: { ...backendValues, env: [{ name: "PUBLIC_URL", value: "https://shop.example" }] },
    },
    {
      name: "a public URL that is a secret is not hidden by the platform's",
      spec: { backend: { env: [{ name: "PUBLIC_URL", secretRef: { name: "url", key: "latest" } }] } },
      set: undefined,
      expected: (({ env: _, ...others }) => others)(backendValues),
    },
    {
      name: "a secret variable in plain text is not shown",
      spec: { backend: { env: [{ name: "SECRET_KEY", value: "x" }] } },
      set: undefined,
      expected: backendValues,
    },
    {
      name: "a value is what it is, byte for byte",
      spec: { backend: { env: env('x\nsecurityContext: {} {{ .Values }} $ARGOCD_APP_NAME "\\') } },
      set: undefined,
      expected: {
        ...backendValues,
        env: [...env('x\nsecurityContext: {} {{ .Values }} $ARGOCD_APP_NAME "\\'), ...backendValues.env],
      },
    },
  ] satisfies {
    name: string;
    spec: EnvironmentSpec["overrides"];
    set: ConfigSetSpec | undefined;
    expected: object;
  }[])("$name", ({ spec, set, expected }) => {
    expect(chosen(spec, set)).toEqual(expected);
  });

  test("reads the same, however it was written down", () => {
    const one = chosen({
      values: [
        { path: "backend.b", value: "1" },
        { path: "backend.a", value: "2" },
      ],
    });
    const other = chosen({
      values: [
        { path: "backend.a", value: "2" },
        { path: "backend.b", value: "1" },
      ],
    });
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
    // Another order is another hash, which would update every environment.
    expect(Object.keys(chosen(undefined))).toEqual([
      "image",
      "commit",
      "pullPolicy",
      "port",
      "healthPath",
      "host",
      "url",
      "env",
    ]);
  });
});
