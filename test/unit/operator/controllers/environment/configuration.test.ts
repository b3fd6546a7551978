import { describe, expect, test } from "@jest/globals";
import { type ConfigSet, type ConfigSetVersion, currentVersion, revisionName } from "../../../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import {
  configurationOf,
  desiredConfiguration,
  foreseenConfiguration,
} from "../../../../../operator/controllers/environment/configuration.ts";
import { memoryConfigSets, memoryConfigSetVersions } from "../../../../support/doubles/memory/config-sets.ts";
import {
  configSetFixture,
  environmentFixture,
  UID,
} from "../../../../support/fixtures/environment/environment-fixture.ts";

const OTHER_UID = UID.replace("0a1b", "ffff");
const kept = (version: number, uid = UID): ConfigSetVersion => ({ name: "web", version, uid, spec: {} });
const configSet = (generation: number, uid = UID, spec = {}) => configSetFixture("web", spec, { generation, uid });

function environment(version?: number, pinned?: ConfigSetVersion): EphemeralEnvironment {
  const requested = { name: "web", ...(version === undefined ? {} : { version }) };
  const has = pinned && { name: "web", version: pinned.version, revision: revisionName(pinned) };
  return environmentFixture({ spec: { configSet: requested }, ...(has ? { status: { configSet: has } } : {}) });
}

interface Case {
  readonly name: string;
  readonly given: EphemeralEnvironment;
  readonly current?: ConfigSet;
  readonly kept?: readonly ConfigSetVersion[];
}

const known = ({ current, kept: versions = [] }: Case) => ({
  configSets: current ? memoryConfigSets(current) : memoryConfigSets(),
  configSetVersions: memoryConfigSetVersions(versions),
});

describe("the version of its config set that an environment should have", () => {
  test.each([
    { name: "none when it asks for none", given: environmentFixture(), expected: undefined },
    {
      name: "at first sight the current one",
      given: environment(),
      current: configSet(3),
      kept: [kept(2)],
      expected: kept(3),
    },
    {
      name: "then the one that it has, whatever the config set has become",
      given: environment(undefined, kept(2)),
      current: configSet(3),
      kept: [kept(2)],
      expected: kept(2),
    },
    {
      name: "also when the config set is gone",
      given: environment(undefined, kept(2)),
      kept: [kept(2)],
      expected: kept(2),
    },
    {
      name: "the current one while it is not stored, if it is the same",
      given: environment(undefined, kept(3)),
      current: configSet(3),
      expected: kept(3),
    },
    {
      name: "the current one when the spec names it",
      given: environment(3, kept(2)),
      current: configSet(3),
      kept: [kept(2)],
      expected: kept(3),
    },
    {
      name: "an older one when it is kept",
      given: environment(1, kept(2)),
      current: configSet(3),
      kept: [kept(1), kept(2)],
      expected: kept(1),
    },
    {
      name: "an older one of the deleted config set that it was made with",
      given: environment(1, kept(2)),
      kept: [kept(1), kept(2)],
      expected: kept(1),
    },
    {
      name: "its own rather than that of a config set made anew under the name",
      given: environment(2, kept(2)),
      current: configSet(2, OTHER_UID),
      kept: [kept(2), kept(2, OTHER_UID)],
      expected: kept(2),
    },
    {
      name: "the config set made anew, when the spec names its version",
      given: environment(1, kept(2)),
      current: configSet(1, OTHER_UID),
      kept: [kept(1), kept(2)],
      expected: kept(1, OTHER_UID),
    },
  ] satisfies (Case & { expected: ConfigSetVersion | undefined })[])("is $name", ({ expected, ...given }) => {
    expect(desiredConfiguration(given.given, known(given))).toEqual(expected);
  });

  test.each([
    { name: "no config set of that name", given: environment(), reason: "ConfigSetNotFound" },
    {
      name: "no config set, although one of that name left a version behind",
      given: environment(1),
      kept: [kept(1)],
      reason: "ConfigSetNotFound",
    },
    {
      name: "a version that is still to come",
      given: environment(4),
      current: configSet(3),
      reason: "ConfigSetVersionNotFound",
    },
    {
      name: "a version that is not stored",
      given: environment(1),
      current: configSet(3),
      kept: [kept(2)],
      reason: "ConfigSetVersionNotFound",
    },
    {
      name: "a version of another config set that had the name",
      given: environment(1),
      current: configSet(3),
      kept: [kept(1, OTHER_UID)],
      reason: "ConfigSetVersionNotFound",
    },
    {
      name: "its version lost, and the config set another by now",
      given: environment(undefined, kept(2)),
      current: configSet(3),
      reason: "ConfigSetVersionNotFound",
    },
    {
      name: "a config set for production",
      given: environment(),
      current: configSet(1, UID, { production: true }),
      reason: "ConfigSetForProduction",
    },
  ] satisfies (Case & { reason: string })[])("is missing: $name", ({ reason, ...given }) => {
    expect(desiredConfiguration(given.given, known(given))).toMatchObject({ state: "failed", reason });
  });
});

test("a version that can't be had leaves the one before in force", () => {
  const given = { name: "", given: environment(9, kept(2)), current: configSet(3), kept: [kept(2)] };
  expect(foreseenConfiguration(given.given, known(given))).toEqual(kept(2));
  expect(configurationOf(given.given, known(given))).toEqual(kept(2));
});

test("a version foreseen is the one that will be settled", () => {
  const given = { name: "", given: environment(), current: configSet(3) };
  expect(foreseenConfiguration(given.given, known(given))).toEqual(currentVersion(configSet(3)));
  expect(configurationOf(given.given, known(given))).toBeUndefined();
});
