import { describe, expect, test } from "@jest/globals";
import type { ConfigSetSpec } from "../../../../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { componentUrl } from "../../../../../../crds/environment/urls.ts";
import type { RepositorySpec } from "../../../../../../crds/repository/repository.ts";
import { podSecretName } from "../../../../../../operator/controllers/environment/desired/secret.ts";
import { environmentValues } from "../../../../../../operator/controllers/environment/desired/values.ts";
import {
  commitA,
  environmentFixture,
  fixtureSettings,
  repositoryFixture,
  UID,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { planInputFixture } from "../../../../../support/fixtures/plan-input.ts";
import { backendValues, image, type Parts, shop, valuesOf } from "./shop-values.ts";

const both: Parts["spec"] = { frontend: { repository: "shop-web", branch: "main" } };

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
        port: 3e3,
        healthPath: "/up",
        host: "shop.env.localhost",
        url: "https://shop.env.localhost:18443",
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
    // Former pods still use it.
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

  test.each([
    ["latest", "Always"],
    ["pr-{pullRequest}", "Always"],
    ["{branch}-{commit:7}", "IfNotPresent"],
  ])("with the tag %s are pulled %s", (tagTemplate, pullPolicy) => {
    const values = valuesOf(shop(), { image: { repository: "registry.test/shop-api", tagTemplate } });
    expect(values.backend).toMatchObject({ commit: commitA, pullPolicy });
  });

  test("leave out HTTPS's own port", () => {
    const { backend } = valuesOf(shop(), {}, { ...fixtureSettings, publicPort: 443 }) as { backend: { url: string } };
    expect(backend.url).toBe("https://shop--api.env.localhost");
    const url = componentUrl(shop(), "frontend", { ...fixtureSettings, publicPort: 443 });
    expect(url).toBe("https://shop.env.localhost");
  });

  test("are not guessed while a commit is open or a Repository absent", () => {
    expect(() => valuesOf(environmentFixture())).toThrow("the commit of backend is not settled");
    expect(() => environmentValues(planInputFixture(shop(), {}), fixtureSettings)).toThrow(
      "the repository of backend is not known",
    );
  });
});

describe("the database of an environment", () => {
  const settings = {
    ...fixtureSettings,
    database: { image: "registry.test/postgres", version: "18", sizeGi: 2, seedSeconds: 600 },
  };
  const given = { image: "registry.test/postgres:18", user: "app", name: "app", sizeGi: 2 };
  const requested = { database: { provision: true } };

  test.each([
    { name: "is not there unless asked for", spec: {}, set: { database: { version: "17" } }, expected: undefined },
    { name: "is as the settings say", spec: requested, set: undefined, expected: given },
    {
      name: "is as the config set says, where that says more",
      spec: requested,
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
      spec: requested,
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
