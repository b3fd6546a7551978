import { describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../../crds/ephemeral-environment.ts";
import type { ChartSource, RepositorySpec } from "../../../../../crds/repository.ts";
import { environmentValues, urlsOf, wantedHash } from "../../../../../operator/environment/desired/values.ts";
import {
  commitA,
  environmentFixture,
  fixtureSettings,
  repositoryFixture,
  UID,
} from "../../../../support/environment-fixture.ts";

type Parts = NonNullable<Parameters<typeof environmentFixture>[0]>;

const image = `registry.test/shop-api:${commitA}`;
const settled = { applied: { branch: "main", commit: commitA, image } };
const both: Parts["spec"] = { frontend: { repository: "shop-web", branch: "main" } };

function shop({ spec, status, metadata }: Parts = {}): EphemeralEnvironment {
  const components = { backend: settled, ...(spec?.frontend ? { frontend: settled } : {}) };
  return environmentFixture({
    ...{ spec: { ...spec }, status: { components, ...status } },
    ...(metadata ? { metadata } : {}),
  });
}

function valuesOf(
  environment: EphemeralEnvironment,
  backend: Partial<RepositorySpec> = {},
  settings = fixtureSettings,
) {
  const frontend = repositoryFixture("shop-web", { type: "frontend", port: 3000, healthPath: "/up" });
  return environmentValues(environment, { backend: repositoryFixture("shop-api", backend), frontend }, settings);
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
      secret: { name: "environment-secrets-1" },
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

  test("name the newest Secret, so that new values restart the pods", () => {
    const secrets = [
      { name: "A", version: 2 },
      { name: "B", version: 10 },
    ];
    expect(valuesOf(shop({ status: { secrets } }))).toMatchObject({ secret: { name: "environment-secrets-10" } });
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
    expect(() => environmentValues(shop(), {}, fixtureSettings)).toThrow("the repository of backend is not known");
  });
});

describe("what is wanted", () => {
  const chart: ChartSource = fixtureSettings.defaultChart;
  const hashOf = (environment: EphemeralEnvironment, backend: Partial<RepositorySpec> = {}, from = chart) =>
    wantedHash(from, valuesOf(environment, backend));
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
        status: { components: { backend: { applied: { ...settled.applied, image: "registry.test/other:1" } } } },
      }),
      {},
    ],
    ["a new version of the secrets", shop({ status: { secrets: [{ name: "A", version: 2 }] } }), {}],
    ["another health path", shop(), { healthPath: "/healthz" }],
    ["sleep", shop({ spec: { suspended: true } }), {}],
    ["an environment of the same name made anew", shop({ metadata: { uid: UID.replace("0", "1") } }), {}],
  ])("is something else with %s", (_what, environment, backend) => {
    expect(hashOf(environment, backend)).not.toBe(usual);
  });

  test("is something else with another chart, and short enough for a label", () => {
    expect(hashOf(shop(), {}, { ...chart, revision: "next" })).not.toBe(usual);
    expect(usual).toMatch(/^[0-9a-f]{12}$/);
  });
});
