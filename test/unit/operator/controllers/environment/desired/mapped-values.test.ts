import { describe, expect, test } from "@jest/globals";
import type { ConfigSetSpec } from "../../../../../../crds/config-set.ts";
import type { EnvironmentSpec } from "../../../../../../crds/environment/ephemeral-environment.ts";
import type { RepositorySpec } from "../../../../../../crds/repository/repository.ts";
import { podSecretName } from "../../../../../../operator/controllers/environment/desired/secret.ts";
import { environmentValues } from "../../../../../../operator/controllers/environment/desired/values.ts";
import {
  commitA,
  fixtureSettings,
  repositoryFixture,
  UID,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { planInputFixture } from "../../../../../support/fixtures/plan-input.ts";
import { shop } from "./shop-values.ts";

const URL = "https://shop--api.env.localhost:18443";
const place = { repoUrl: "https://git.test/c.git", path: ".", revision: "main" };

interface Given {
  readonly values?: string;
  readonly spec?: Partial<EnvironmentSpec>;
  readonly configSet?: ConfigSetSpec;
  readonly repository?: Partial<RepositorySpec>;
}

function mapped({ values, spec = {}, configSet, repository }: Given, settings = fixtureSettings): object {
  const chart = values === undefined ? place : { ...place, values };
  const repositories = {
    backend: repositoryFixture("shop-api", { chart, ...repository }),
    frontend: repositoryFixture("shop-web", { type: "frontend", port: 3000 }),
  };
  return environmentValues(planInputFixture(shop({ spec }), repositories, configSet), settings);
}

describe("values that a chart is mapped to", () => {
  test("are what the platform knows of the environment", () => {
    const values = `
name: \${environment.name}
uid: \${environment.uid}
image: {repository: "\${backend.image.repository}", tag: "\${backend.image.tag}"}
commit: \${backend.commit}
branch: \${backend.branch}
hosts: ["\${backend.host}", "\${frontend.host}", "\${hosts.admin}", "\${hosts.docs}"]
admin: \${hosts.admin.url}
web: {host: "\${frontend.host}", port: "\${frontend.port}"}
url: \${backend.url}
port: \${backend.port}
env: \${backend.env}
secret: \${secret.name}
pull: \${imagePullSecrets}
class: \${ingress.className}
annotations: \${ingress.annotations}
replicas: \${backend.replicas}
workers: \${replicas.orZero(3)}
asleep: \${suspended}
data: \${database.enabled}`;
    const repository = { hosts: [{ name: "admin" }, { name: "mail", healthPath: "/healthz" }] };
    expect(mapped({ values, repository, configSet: { env: [{ name: "LEVEL", value: "info" }] } })).toEqual({
      name: "shop",
      uid: UID,
      commit: commitA,
      branch: "main",
      port: 8080,
      workers: 3,
      asleep: false,
      data: false,
      image: { repository: "registry.test/shop-api", tag: commitA },
      hosts: ["shop--api.env.localhost", "shop--admin.env.localhost"],
      admin: "https://shop--admin.env.localhost:18443",
      web: {},
      url: URL,
      env: [
        { name: "LEVEL", value: "info" },
        { name: "PUBLIC_URL", value: URL },
      ],
      secret: podSecretName([]),
      annotations: { "traefik.ingress.kubernetes.io/router.tls": "true" },
    });
  });

  test("have both components, the database, and what the settings say of Ingresses", () => {
    const values =
      "a: ${frontend.port}\nb: ${database.host} ${database.user} ${database.name}\nc: ${ingress.className}\nd: ${ingress.annotations}";
    const spec = { frontend: { repository: "shop-web", branch: "main" }, database: { provision: true } };
    const ingress = { className: "internal", annotations: { "example.test/a": "b" } };
    expect(mapped({ values, spec }, { ...fixtureSettings, ingress })).toEqual({
      a: 3e3,
      b: "database app app",
      c: "internal",
      d: { "example.test/a": "b" },
    });
  });

  test("have what users choose, and nothing of it while the environment is suspended", () => {
    const values =
      "replicas: ${backend.replicas}\nresources: ${backend.resources}\nenv: ${backend.envMap}\nworkers: ${replicas.orZero(2)}";
    const configSet = { helmValues: { backend: { replicas: 2, resources: { limits: { cpu: "1" } } } } };
    const overrides = { backend: { replicas: 3, env: [{ name: "LEVEL", value: "debug" }] } };
    const awake = {
      replicas: 3,
      resources: { limits: { cpu: "1" } },
      env: { LEVEL: "debug", PUBLIC_URL: URL },
      workers: 2,
    };
    expect(mapped({ values, configSet, spec: { overrides } })).toEqual(awake);
    const asleep = { ...awake, replicas: 0, workers: 0 };
    expect(mapped({ values, configSet, spec: { overrides, suspended: true } })).toEqual(asleep);
  });

  test("are those of the settings where the Repository names no chart", () => {
    const settings = { ...fixtureSettings, defaultChart: { ...place, values: "a: ${environment.name}" } };
    expect(environmentValues(planInputFixture(shop(), { backend: repositoryFixture() }), settings)).toEqual({
      a: "shop",
    });
  });

  test("never have a secret, also where it was written as plain text", () => {
    const spec = { overrides: { backend: { env: [{ name: "SECRET_KEY", value: "hunter2" }] } } };
    const values = "a: ${backend.env}\nb: ${backend.envMap}\nc: x ${secret.name}";
    expect(JSON.stringify(mapped({ values, spec }))).not.toContain("hunter2");
  });
});

describe("a config set", () => {
  test("maps over the chart's values", () => {
    const values = "image: {tag: '${backend.image.tag}', pullPolicy: Always}\nhosts: ['${backend.host}']";
    const configSet = { values: "image: {pullPolicy: Never}\nhosts: []\nname: ${environment.name}" };
    expect(mapped({ values, configSet })).toEqual({
      image: { tag: commitA, pullPolicy: "Never" },
      hosts: [],
      name: "shop",
    });
  });

  test("maps a chart that has no values of its own", () => {
    expect(mapped({ configSet: { values: "a: ${backend.port}" } })).toEqual({ a: 8080 });
  });

  test("adds values below a component, but none that references decide", () => {
    const values = "backend: {image: '${backend.image.tag}', size: 1}";
    const configSet = { helmValues: { backend: { image: "evil", size: 2, replicas: 3 } } };
    expect(mapped({ values, configSet })).toEqual({ backend: { image: commitA, size: 2 } });
  });
});

describe("an override", () => {
  const values =
    "image: {tag: '${backend.image.tag}', pullPolicy: Always}\nhosts: [{host: '${backend.host}'}]\nui: {color: red}";
  const overridden = (path: string, value: string) =>
    mapped({
      values,
      spec: { overrides: { values: [{ path, value }] } },
      repository: { overridable: [path] },
    });

  test.each([
    ["image.pullPolicy", '"Never"', { image: { tag: commitA, pullPolicy: "Never" } }],
    ["ui.color", '"blue"', { ui: { color: "blue" } }],
    ["ui.size.big", "1", { ui: { color: "red", size: { big: 1 } } }],
    ["backend.cache", "1", { backend: { cache: 1 } }],
  ])("changes the chart's own value %s", (path, value, expected) => {
    expect(overridden(path, value)).toMatchObject(expected);
  });

  test.each(["image.tag", "image", "hosts", "hosts.0.host"])("never changes what a reference decides: %s", (path) => {
    expect(overridden(path, '"evil"')).toEqual(mapped({ values }));
  });

  test.each(["secret.name", "environment", "backend.image", "image.tag"])(
    "does not reach %s of the platform's layout",
    (path) => {
      const spec = { overrides: { values: [{ path, value: '"evil"' }] } };
      expect(mapped({ spec, repository: { overridable: [path] } })).toEqual(mapped({}));
    },
  );
});

test("what can't be read is never guessed", () => {
  expect(() => mapped({ values: "a: [" })).toThrow("spec.chart.values of the backend's Repository: line 1, column");
});

test("read the same, however they were written down", () => {
  const one = mapped({ values: "a: 1\nb: {c: 2, d: '${suspended}'}" });
  const other = mapped({ values: "# Two.\nb:\n  d: ${suspended}\n  c: 2\na: 1" });
  expect(JSON.stringify(one)).toBe(JSON.stringify(other));
});
