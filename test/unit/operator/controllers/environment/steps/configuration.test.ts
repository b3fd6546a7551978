import { describe, expect, test } from "@jest/globals";
import {
  type ConfigSetSpec,
  type ConfigSetVersion,
  currentVersion,
  revisionName,
} from "../../../../../../crds/config-set.ts";
import type {
  EnvironmentSpec,
  EphemeralEnvironment,
} from "../../../../../../crds/environment/ephemeral-environment.ts";
import { configuration } from "../../../../../../operator/controllers/environment/steps/configuration.ts";
import { memoryConfigSets, memoryConfigSetVersions } from "../../../../../support/doubles/memory/config-sets.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import {
  configSetFixture,
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";

const repository = repositoryFixture("shop-api", { overridable: ["backend.size"] });
const first = configSetFixture("web", { ttlDefaultHours: 8 });
const kept = currentVersion(first);
const pin = { name: "web", version: 1, revision: revisionName(kept) };

function dependenciesOf(configSet: ConfigSetSpec | undefined, versions: readonly ConfigSetVersion[] = []) {
  return stepDependencies({
    repositories: memoryRepositories(repository),
    configSets: configSet ? memoryConfigSets(configSetFixture("web", configSet)) : memoryConfigSets(),
    configSetVersions: memoryConfigSetVersions(versions),
  });
}

const using: Partial<EnvironmentSpec> = { configSet: { name: "web" } };
const forbidden: Partial<EnvironmentSpec> = { overrides: { values: [{ path: "backend.other", value: "1" }] } };
const allowed: Partial<EnvironmentSpec> = { overrides: { values: [{ path: "backend.size", value: "1" }] } };
const pinned = (spec: Partial<EnvironmentSpec>) => environmentFixture({ spec, status: { configSet: pin } });

describe("the configuration", () => {
  test.each([
    { name: "is not requested", given: environmentFixture(), expected: { state: "done", reason: "NotRequested" } },
    {
      name: "is resolved when there are overrides that may be",
      given: environmentFixture({ spec: allowed }),
      expected: { state: "done", reason: "Resolved" },
    },
    {
      name: "fails where the variables do not fit into an application",
      given: environmentFixture({
        spec: {
          overrides: {
            backend: { env: Array.from({ length: 9 }, (_, at) => ({ name: `V${at}`, value: "x".repeat(32_000) })) },
          },
        },
      }),
      expected: { state: "failed", reason: "VariablesTooLong" },
    },
    {
      name: "grants the overrides that may be, for good",
      given: environmentFixture({ spec: allowed }),
      expected: { findings: { grantedValues: ["backend.size"] } },
    },
    {
      name: "forgets what is asked for no longer",
      given: environmentFixture({ status: { grantedValues: ["backend.size"] } }),
      expected: { state: "done", findings: { grantedValues: [] } },
    },
    {
      name: "is resolved with an override that was granted before",
      given: environmentFixture({ spec: forbidden, status: { grantedValues: ["backend.other"] } }),
      expected: { state: "done", findings: { grantedValues: ["backend.other"] } },
    },
    {
      name: "fails with overrides that may not be",
      given: environmentFixture({ spec: forbidden }),
      expected: { state: "failed", reason: "OverrideForbidden" },
    },
    {
      name: "fails with overrides of a Repository that is not there",
      given: environmentFixture({ spec: { ...allowed, backend: { repository: "absent", branch: "main" } } }),
      expected: { state: "failed", reason: "RepositoryNotFound" },
    },
    {
      name: "resolves the version with its TTL",
      given: environmentFixture({ spec: using }),
      expected: { state: "done", reason: "Resolved", findings: { configSet: { ...pin, ttlDefaultHours: 8 } } },
    },
    {
      name: "resolves it also while an override is forbidden",
      given: environmentFixture({ spec: { ...using, ...forbidden } }),
      expected: {
        state: "failed",
        reason: "OverrideForbidden",
        findings: { configSet: { ...pin, ttlDefaultHours: 8 } },
      },
    },
    {
      name: "keeps the resolved version",
      given: pinned(using),
      expected: { state: "done", reason: "Resolved", findings: { configSet: { ...pin, ttlDefaultHours: 8 } } },
    },
  ])("$name", async ({ given, expected }) => {
    expect(await configuration(dependenciesOf(first.spec)).run(given, stepContext())).toEqual(
      expect.objectContaining(expected),
    );
  });

  test("is kept before it is published", async () => {
    const dependencies = dependenciesOf(first.spec);
    await configuration(dependencies).run(environmentFixture({ spec: using }), stepContext());
    expect(dependencies.configSetVersions.find(pin.revision)).toEqual(kept);
  });
});

describe("a configuration that is not resolved lets the rest go on", () => {
  const standing = (given: EphemeralEnvironment, versions: readonly ConfigSetVersion[]) =>
    configuration(dependenciesOf(undefined, versions)).continueWithPrevious?.(given);

  test.each([
    {
      name: "with the version that it has when another can't be had",
      given: pinned({ configSet: { name: "web", version: 9 } }),
      versions: [kept],
      expected: true,
    },
    { name: "not when its version is lost", given: pinned(using), versions: [], expected: false },
    { name: "not before there was one", given: environmentFixture({ spec: using }), versions: [kept], expected: false },
    {
      name: "not with a forbidden override before anything runs",
      given: pinned({ ...using, ...forbidden }),
      versions: [kept],
      expected: false,
    },
    {
      name: "without an override that is forbidden when something runs",
      given: environmentFixture({
        spec: { ...using, ...forbidden },
        status: { configSet: pin, renderedSpecHash: "before" },
      }),
      versions: [kept],
      expected: true,
    },
  ])("$name", ({ given, versions, expected }) => {
    expect(standing(given, versions)).toBe(expected);
  });
});

// Abuse case 106.
describe("a config set of groups", () => {
  const theirs: ConfigSetSpec = { access: { groups: ["shop"] } };

  test("is refused to an environment of others that no owner is named of, and heals with the groups", async () => {
    const environment = environmentFixture({ spec: { ...using, access: { groups: ["billing"] } } });
    expect(await configuration(dependenciesOf(theirs)).run(environment, stepContext())).toMatchObject({
      state: "failed",
      reason: "ConfigSetNotShared",
      message: expect.stringContaining("spec.access.groups"),
    });
    expect(configuration(dependenciesOf(theirs)).continueWithPrevious?.(environment)).toBe(false);
    expect(await configuration(dependenciesOf({})).run(environment, stepContext())).toMatchObject({ state: "done" });
  });

  test.each([
    ["names one of them", { access: { groups: ["shop"] } }],
    ["has an owner, whom REST has checked", { owner: { subject: "https://i.test#dev", email: "", name: "" } }],
  ])("is had by one that %s", async (_what, spec) => {
    const result = await configuration(dependenciesOf(theirs)).run(
      environmentFixture({ spec: { ...using, ...spec } }),
      stepContext(),
    );
    expect(result).toMatchObject({ state: "done", findings: { configSet: { name: "web" } } });
  });

  test("stays with what was made with it", async () => {
    expect(await configuration(dependenciesOf(theirs)).run(pinned(using), stepContext())).toMatchObject({
      state: "done",
    });
  });
});
