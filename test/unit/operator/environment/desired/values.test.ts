import { describe, expect, test } from "@jest/globals";
import type { ConfigSetSpec } from "../../../../../crds/config-set.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import type { ChartSource, RepositorySpec } from "../../../../../crds/repository/repository.ts";
import { podSecretName } from "../../../../../operator/environment/desired/secret.ts";
import { environmentValues, hashOfDesired, urlsOf } from "../../../../../operator/environment/desired/values.ts";
import {
  commitA,
  environmentFixture,
  fixtureSettings,
  repositoryFixture,
  UID,
} from "../../../../support/fixtures/environment-fixture.ts";
import { planInputFixture } from "../../../../support/fixtures/plan-input.ts";

type Parts = NonNullable<Parameters<typeof environmentFixture>[0]>;

const image = `registry.test/shop-api:${commitA}`;
const settled = { applied: { branch: "main", commit: commitA, image } };
const both: Parts["spec"] = { frontend: { repository: "shop-web", branch: "main" } };

function shop({ spec, status, metadata }: Parts = {}): EphemeralEnvironment {
  const sources = { backend: settled, ...(spec?.frontend ? { frontend: settled } : {}) };
  return environmentFixture({
    ...{ spec: { ...spec }, status: { sources, ...status } },
    ...(metadata ? { metadata } : {}),
  });
}

function valuesOf(
  environment: EphemeralEnvironment,
  backend: Partial<RepositorySpec> = {},
  settings = fixtureSettings,
) {
  const frontend = repositoryFixture("shop-web", { type: "frontend", port: 3000, healthPath: "/up" });
  const repositories = { backend: repositoryFixture("shop-api", backend), frontend };
  return environmentValues(planInputFixture(environment, repositories), settings);
}

const backendValues = {
  image,
  port: 8080,
  healthPath: "/",
  host: "shop--api.env.localhost",
  url: "https://shop--api.env.localhost:18443",
};

describe("the values of an environment", () => {
  test("of a backend alone name no frontend", () => {
    expect(valuesOf(shop())).toEqual({
      environment: { name: "shop", uid: UID },
      backend: backendValues,
      secret: { name: podSecretName([]) },
    });
  });

  test("of both components take each from its own Repository", () => {
    expect(valuesOf(shop({ spec: both }), { port: 9000 })).toMatchObject({
      backend: { ...backendValues, port: 9000 },
      frontend: {
        image,
        ...{ port: 3000, healthPath: "/up", host: "shop.env.localhost", url: "https://shop.env.localhost:18443" },
      },
    });
  });

  test("name the Secret of the newest versions, so that new values restart the pods", () => {
    const podSecrets = ["environment-secrets-00000001", "environment-secrets-00000002"];
    expect(valuesOf(shop({ status: { podSecrets } }))).toMatchObject({ secret: { name: podSecrets[1] } });
  });

  test("name what images are pulled with once it was made, while it is there and a Repository needs it", () => {
    const pullSecret = [{ registry: "registry.test", source: "shop@latest" }];
    const needing = { imagePullSecretRef: { name: "shop", key: "latest" } };
    const named = (status: EphemeralEnvironment["status"], backend: Partial<RepositorySpec> = needing) =>
      valuesOf(shop({ status: { ...status } }), backend).imagePullSecrets;
    expect(named({ pullSecret })).toEqual([{ name: "image-pull" }]);
    expect(named({ pullSecret: [] })).toBeUndefined();
    expect(named({})).toBeUndefined();
    // For pods of before it is still there.
    expect(named({ pullSecret }, {})).toBeUndefined();
  });

  test("of a suspended environment are the same at no replica, and awake again the former", () => {
    const awake = valuesOf(shop({ spec: both })) as Record<string, object>;
    const asleep = {
      ...awake,
      backend: { ...awake.backend, replicas: 0 },
      frontend: { ...awake.frontend, replicas: 0 },
      suspended: true,
    };
    expect(valuesOf(shop({ spec: { ...both, suspended: true } }))).toEqual(asleep);
    expect(valuesOf(shop({ spec: { ...both, suspended: false } }))).toEqual(awake);
  });

  test("leave out HTTPS's own port", () => {
    const { backend } = valuesOf(shop(), {}, { ...fixtureSettings, publicPort: 443 }) as { backend: { url: string } };
    expect(backend.url).toBe("https://shop--api.env.localhost");
    expect(urlsOf(shop({ spec: both }), { ...fixtureSettings, publicPort: 443 })).toEqual({
      backend: "https://shop--api.env.localhost",
      frontend: "https://shop.env.localhost",
    });
  });

  test("are not guessed while a commit is open or a Repository absent", () => {
    expect(() => valuesOf(environmentFixture())).toThrow("the commit of backend is not settled");
    expect(() => environmentValues(planInputFixture(shop(), {}), fixtureSettings)).toThrow(
      "the repository of backend is not known",
    );
  });
});

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
      expected: { ...backendValues, replicas: 2, cache: { size: 1 }, env: env("info") },
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
        ...{ replicas: 3, env: env("debug"), resources: { requests: { cpu: "2", memory: "1Gi" } } },
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
      set: { helmValues: { backend: { image: "x", port: 1, host: "x", url: "x", healthPath: "/x" } } },
      expected: backendValues,
    },
    {
      name: "values of a missing component are ignored",
      spec: undefined,
      set: { helmValues: { frontend: { replicas: 2 } } },
      expected: backendValues,
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
        env: env('x\nsecurityContext: {} {{ .Values }} $ARGOCD_APP_NAME "\\'),
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
    // What was hashed before there was anything to choose is hashed the same now.
    expect(Object.keys(chosen(undefined))).toEqual(["image", "port", "healthPath", "host", "url"]);
  });
});

describe("the database of an environment", () => {
  const settings = { ...fixtureSettings, database: { image: "registry.test/postgres", version: "18", sizeGi: 2 } };
  const given = { image: "registry.test/postgres:18", user: "app", name: "app", sizeGi: 2 };
  const asked = { database: { provision: true } };

  test.each([
    { name: "is not there unless asked for", spec: {}, set: { database: { version: "17" } }, expected: undefined },
    { name: "is as the settings say", spec: asked, set: undefined, expected: given },
    {
      name: "is as the config set says, where that says more",
      spec: asked,
      set: { database: { version: "17", sizeGi: 9 } },
      expected: { ...given, image: "registry.test/postgres:17", sizeGi: 9 },
    },
    { name: "comes with a config set", spec: {}, set: { database: { enabled: true } }, expected: given },
    {
      name: "does not come with a config set that the environment contradicts",
      spec: { database: { provision: false } },
      set: { database: { enabled: true } },
      expected: undefined,
    },
    {
      name: "has the storage class of the settings",
      spec: asked,
      set: undefined,
      more: { storageClass: "fast" },
      expected: { ...given, storageClass: "fast" },
    },
  ] satisfies {
    name: string;
    spec: Parts["spec"];
    set: ConfigSetSpec | undefined;
    more?: object;
    expected: object | undefined;
  }[])("$name", ({ spec, set, more, expected }) => {
    const backend = repositoryFixture("shop-api");
    const installed = { ...settings, database: { ...settings.database, ...more } };
    expect(environmentValues(planInputFixture(shop({ spec }), { backend }, set), installed).database).toEqual(expected);
  });
});

describe("what is wanted", () => {
  const chart: ChartSource = fixtureSettings.defaultChart;
  const hashOf = (environment: EphemeralEnvironment, backend: Partial<RepositorySpec> = {}, from = chart) =>
    hashOfDesired(from, valuesOf(environment, backend));
  const usual = hashOf(shop());

  test.each([
    ["the TTL", { spec: { ttlHours: 99 } }],
    ["the protection", { spec: { protected: true } }],
    ["the owner", { spec: { owner: { subject: "i#s", email: "a@b.test", name: "A" } } }],
    ["who may see it", { spec: { access: { groups: ["team"] } } }],
    ["labels and annotations", { metadata: { labels: { a: "b" }, annotations: { c: "d" }, generation: 9 } }],
    ["its own history", { status: { readyAt: "2026-01-01T00:00:00Z", phase: "ready" } }],
  ] satisfies [string, Parts][])("stays the same when %s changes", (_what, parts) => {
    expect(hashOf(shop(parts))).toBe(usual);
  });

  test.each([
    [
      "another image",
      shop({
        status: { sources: { backend: { applied: { ...settled.applied, image: "registry.test/other:1" } } } },
      }),
      {},
    ],
    ["a new version of the secrets", shop({ status: { secrets: [{ name: "A", version: 2 }] } }), {}],
    ["another health path", shop(), { healthPath: "/healthz" }],
    ["sleep", shop({ spec: { suspended: true } }), {}],
    ["a database", shop({ spec: { database: { provision: true } } }), {}],
    ["an environment of the same name made anew", shop({ metadata: { uid: UID.replace("0", "1") } }), {}],
  ])("is something else with %s", (_what, environment, backend) => {
    expect(hashOf(environment, backend)).not.toBe(usual);
  });

  test("stays the same when a Repository lists a variable that stands in it, or an override no more", () => {
    const overrides = {
      backend: { env: [{ name: "LEVEL", value: "info" }] },
      values: [{ path: "backend.size", value: "1" }],
    };
    const made = shop({ spec: { overrides }, status: { secrets: [], grantedValues: ["backend.size"] } });
    const before = hashOf(made, { secrets: [], overridable: ["backend.size"] });
    expect(hashOf(made, { secrets: [{ name: "LEVEL" }], overridable: [] })).toBe(before);
    expect(before).not.toBe(hashOf(shop({ status: { secrets: [] } })));
  });

  test("is something else with another chart, and short enough for a label", () => {
    expect(hashOf(shop(), {}, { ...chart, revision: "next" })).not.toBe(usual);
    expect(usual).toMatch(/^[0-9a-f]{12}$/);
  });
});
