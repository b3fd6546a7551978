import { describe, expect, test } from "@jest/globals";
import type { ConfigSetSpec } from "../../../../../../crds/config-set.ts";
import type { EnvironmentSpec } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { type Variables, variablesOf } from "../../../../../../operator/controllers/environment/desired/variables.ts";
import {
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { planInputFixture } from "../../../../../support/fixtures/plan-input.ts";

const backend = repositoryFixture("shop-api", { secrets: [{ name: "SECRET_KEY" }] });
const frontend = repositoryFixture("shop-web", { type: "frontend", secrets: [{ name: "SESSION_KEY" }] });
const withFrontend = { frontend: { repository: "shop-web", branch: "main" } };

const plain = (name: string, value: string) => ({ name, value });
const read = (name: string, secret: string, key = "latest") => ({ name, secretRef: { name: secret, key } });

function variables(spec: Partial<EnvironmentSpec>, configSet?: ConfigSetSpec): Variables {
  const environment = environmentFixture({ spec });
  return variablesOf(planInputFixture(environment, spec.frontend ? { backend, frontend } : { backend }, configSet));
}

describe("plain variables", () => {
  test.each([
    { name: "nothing is set by default", spec: {}, set: undefined, expected: { backend: [] } },
    {
      name: "those of the config set reach every component that there is",
      spec: withFrontend,
      set: { env: [plain("A", "1")] },
      expected: { backend: [plain("A", "1")], frontend: [plain("A", "1")] },
    },
    {
      name: "the values of a component win over the set's own, an override over both",
      spec: { overrides: { backend: { env: [plain("B", "override")] } } },
      set: {
        env: [plain("A", "set"), plain("B", "set"), plain("C", "set")],
        helmValues: { backend: { env: [plain("B", "values"), plain("C", "values")] } },
      },
      expected: { backend: [plain("A", "set"), plain("B", "override"), plain("C", "values")] },
    },
    {
      name: "their order is that of the names, however they were given",
      spec: { overrides: { backend: { env: [plain("b", ""), plain("B", ""), plain("A", "")] } } },
      set: undefined,
      expected: { backend: [plain("A", ""), plain("B", ""), plain("b", "")] },
    },
    {
      name: "a reference takes the place of a plain value",
      spec: { overrides: { backend: { env: [read("A", "shared")] } } },
      set: { env: [plain("A", "1")] },
      expected: { backend: [] },
    },
    {
      name: "names that JavaScript knows are names like others",
      spec: { overrides: { backend: { env: [plain("__proto__", "x"), plain("constructor", "y")] } } },
      set: undefined,
      expected: { backend: [plain("__proto__", "x"), plain("constructor", "y")] },
    },
  ] satisfies { name: string; spec: Partial<EnvironmentSpec>; set: ConfigSetSpec | undefined; expected: object }[])(
    "$name",
    ({ spec, set, expected }) => {
      expect(variables(spec, set).plain).toEqual(expected);
    },
  );
});

describe("references", () => {
  const useSharedApiKeys = { secrets: { useSharedApiKeys: true } };
  const keys: ConfigSetSpec = { sharedApiKeys: [{ name: "MAIL_KEY", secretRef: { name: "mail", key: "3" } }] };

  test.each([
    { name: "shared API keys are for those who ask", spec: {}, set: keys, expected: [] },
    {
      name: "shared API keys come from the config set",
      spec: useSharedApiKeys,
      set: keys,
      expected: [["MAIL_KEY", { name: "mail", key: "3", origin: "shared" }]],
    },
    {
      name: "an override wins over the config set, and both over a shared key",
      spec: { ...useSharedApiKeys, overrides: { backend: { env: [read("B", "own", "2")] } } },
      set: { ...keys, env: [read("MAIL_KEY", "other"), read("B", "set")] },
      expected: [
        ["B", { name: "own", key: "2", origin: "override" }],
        ["MAIL_KEY", { name: "other", key: "latest", origin: "config_set" }],
      ],
    },
    {
      name: "a shared key is not read where every component has a plain value of its name",
      spec: { ...withFrontend, ...useSharedApiKeys },
      set: { ...keys, env: [plain("MAIL_KEY", "none")] },
      expected: [],
    },
    {
      name: "a shared key is read while one component has no other value of its name",
      spec: { ...withFrontend, ...useSharedApiKeys, overrides: { backend: { env: [plain("MAIL_KEY", "none")] } } },
      set: keys,
      expected: [["MAIL_KEY", { name: "mail", key: "3", origin: "shared" }]],
    },
    {
      name: "a plain override takes the place of a reference",
      spec: { overrides: { backend: { env: [plain("A", "1")] } } },
      set: { env: [read("A", "shared")] },
      expected: [],
    },
  ] satisfies { name: string; spec: Partial<EnvironmentSpec>; set: ConfigSetSpec; expected: unknown[] }[])(
    "$name",
    ({ spec, set, expected }) => {
      expect([...variables(spec, set).references]).toEqual(expected);
    },
  );

  test("two components that read one variable from two places contradict each other", () => {
    const one = { overrides: { backend: { env: [read("A", "x")] }, frontend: { env: [read("A", "x")] } } };
    expect(variables({ ...withFrontend, ...one }).contradictory).toEqual([]);
    const two = { overrides: { backend: { env: [read("A", "x")] }, frontend: { env: [read("A", "x", "2")] } } };
    expect(variables({ ...withFrontend, ...two }).contradictory).toEqual(["A"]);
    expect(variables({ ...withFrontend, overrides: { backend: one.overrides.backend } }).contradictory).toEqual([]);
  });
});

describe("a variable that a Repository lists later", () => {
  const late = { overrides: { backend: { env: [plain("SECRET_KEY", "x")] } } };
  const among = (secrets: { name: string; version: number }[], spec: Partial<EnvironmentSpec> = late) => {
    const environment = environmentFixture({ spec, status: { secrets } });
    const { plain: shown, inPlainText } = variablesOf(planInputFixture(environment, { backend }));
    return { shown: shown.backend?.map(({ name }) => name), inPlainText };
  };

  test("leaves an environment as it is that was made without it", () => {
    expect(among([])).toEqual({ shown: ["SECRET_KEY"], inPlainText: [] });
  });

  test("is secret for one that was made with it", () => {
    expect(among([{ name: "SECRET_KEY", version: 1 }])).toEqual({ shown: [], inPlainText: ["SECRET_KEY"] });
  });

  test("is secret for one that is to be provided with it", () => {
    const provided = { ...late, secrets: { provided: ["SECRET_KEY"] } };
    expect(among([], provided)).toEqual({ shown: [], inPlainText: ["SECRET_KEY"] });
  });

  test("is secret where it is the password of a database", () => {
    const spec = { database: { provision: true }, overrides: { backend: { env: [plain("DATABASE_PASSWORD", "x")] } } };
    expect(among([], spec)).toEqual({ shown: [], inPlainText: ["DATABASE_PASSWORD"] });
  });
});

describe("a secret variable with a plain value", () => {
  test.each([
    {
      name: "is named and not shown",
      spec: { overrides: { backend: { env: [plain("SECRET_KEY", "x")] } } },
      set: { env: [plain("A", "1")] },
      expected: ["SECRET_KEY"],
    },
    {
      name: "is secret for both components when one Repository lists it",
      spec: { ...withFrontend, overrides: { backend: { env: [plain("SESSION_KEY", "x")] } } },
      set: { env: [plain("A", "1")] },
      expected: ["SESSION_KEY"],
    },
    {
      name: "also in a config set",
      spec: {},
      set: { env: [plain("A", "1"), plain("SECRET_KEY", "x")] },
      expected: ["SECRET_KEY"],
    },
    {
      name: "also when it is to be provided",
      spec: { secrets: { provided: ["STRIPE_KEY"] }, overrides: { backend: { env: [plain("STRIPE_KEY", "x")] } } },
      set: { env: [plain("A", "1")] },
      expected: ["STRIPE_KEY"],
    },
    {
      name: "is fine once a reference takes its place",
      spec: { overrides: { backend: { env: [read("SECRET_KEY", "own")] } } },
      set: { env: [plain("A", "1"), plain("SECRET_KEY", "x")] },
      expected: [],
    },
  ] satisfies { name: string; spec: Partial<EnvironmentSpec>; set: ConfigSetSpec; expected: string[] }[])(
    "$name",
    ({ spec, set, expected }) => {
      const { plain: shown, inPlainText } = variables(spec, set);
      expect(inPlainText).toEqual(expected);
      expect(shown.backend).toEqual([plain("A", "1")]);
    },
  );
});
