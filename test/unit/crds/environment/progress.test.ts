import { describe, expect, test } from "@jest/globals";
import type { EnvironmentSpec, EnvironmentStatus } from "../../../../crds/environment/ephemeral-environment.ts";
import {
  isAppliedAsSpecified,
  isServing,
  pipelinesOfDesiredCommits,
  specHash,
} from "../../../../crds/environment/progress.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  pipelineFixture,
} from "../../../support/fixtures/environment/environment-fixture.ts";

const commitB = "b".repeat(40);
const backend = { repository: "shop-api", branch: "main" };
const main = { branch: "main", commit: commitA };
const applied = { ...main, image: "image" };
const specOf = (more: Partial<EnvironmentSpec>) => environmentFixture({ spec: more }).spec;

describe("what is asked for", () => {
  const usual = specHash(specOf({}));

  test.each<[string, Partial<EnvironmentSpec>]>([
    ["the TTL", { ttlHours: 99 }],
    ["the owner", { owner: { subject: "i#s", email: "a@b.test", name: "A" } }],
    ["who may see it", { access: { groups: ["team"] } }],
    ["what made it", { trigger: { kind: "manifest" } }],
    ["the protection", { protected: true }],
    ["a pipeline", { backend: { ...backend, commit: commitA, pipelines: [pipelineFixture()] } }],
    ["whether it follows its branch", { backend: { ...backend, commit: commitA, follow: true } }],
    ["silence on what is off anyway", { suspended: false }],
  ])("stays the same when %s changes", (_what, spec) => {
    expect(specHash(specOf(spec))).toBe(usual);
  });

  test.each<[string, Partial<EnvironmentSpec>]>([
    ["another commit", { backend: { ...backend, commit: commitB } }],
    ["another branch", { backend: { ...backend, branch: "next", commit: commitA } }],
    ["a frontend", { frontend: { ...backend, commit: commitA } }],
    ["a database", { database: { provision: true } }],
    ["a rotation", { secrets: { rotate: { SECRET_KEY: "2" } } }],
    ["another config set version", { configSet: { name: "default", version: 2 } }],
    ["an override", { overrides: { backend: { replicas: 2 } } }],
    ["sleep", { suspended: true }],
  ])("is something else with %s", (_what, spec) => {
    expect(specHash(specOf(spec))).not.toBe(usual);
  });
});

describe("the application is as asked", () => {
  test.each<[string, Partial<EnvironmentSpec>, EnvironmentStatus, boolean]>([
    ["with the commit asked for", {}, { sources: { backend: { applied } } }, true],
    ["not before anything was applied", {}, {}, false],
    [
      "not with another commit",
      { backend: { ...backend, commit: commitB } },
      { sources: { backend: { resolved: { branch: "main", commit: commitB }, applied } } },
      false,
    ],
    [
      "not with another branch",
      { backend: { ...backend, branch: "next" } },
      { sources: { backend: { resolved: main, applied } } },
      false,
    ],
    ["with the head that was settled", { backend }, { sources: { backend: { resolved: main, applied } } }, true],
    [
      "not while a newer head is built",
      { backend },
      { sources: { backend: { resolved: { branch: "main", commit: commitB }, applied } } },
      false,
    ],
    ["not without the frontend's", { frontend: backend }, { sources: { backend: { applied } } }, false],
    [
      "with the version of the config set",
      { configSet: { name: "default", version: 2 } },
      { sources: { backend: { applied } }, configSet: { name: "default", version: 2, revision: "r" } },
      true,
    ],
    [
      "not with another version of it",
      { configSet: { name: "default", version: 3 } },
      { sources: { backend: { applied } }, configSet: { name: "default", version: 2, revision: "r" } },
      false,
    ],
    [
      "with whatever version was settled, when none is asked for",
      { configSet: { name: "default" } },
      { sources: { backend: { applied } }, configSet: { name: "default", version: 2, revision: "r" } },
      true,
    ],
  ])("%s", (_rule, spec, status, expected) => {
    expect(isAppliedAsSpecified(environmentFixture({ spec, status }))).toBe(expected);
  });
});

describe("what is wanted serves", () => {
  const serving: EnvironmentStatus = {
    sources: { backend: { applied } },
    components: { backend: { commit: commitA, revision: "0123456789ab+hash" } },
    desiredHash: "hash",
    servingHash: "hash",
    renderedSpecHash: specHash(specOf({})),
    readyAt: CREATED,
  };
  const asleep = { ...serving, renderedSpecHash: specHash(specOf({ suspended: true })), servingHash: "" };

  test.each<[string, Partial<EnvironmentSpec>, EnvironmentStatus, boolean]>([
    ["when it runs and answered", {}, serving, true],
    [
      "when its chart's version has a plus",
      {},
      { ...serving, components: { backend: { commit: commitA, revision: "1.2.3+build+hash" } } },
      true,
    ],
    ["not when something else answered", {}, { ...serving, servingHash: "other" }, false],
    ["not when something else runs", {}, { ...serving, desiredHash: "other", servingHash: "other" }, false],
    ["not when something else is asked for, and not rendered yet", { overrides: {} }, serving, false],
    ["not when nothing was ever wanted", {}, {}, false],
    ["when all of it sleeps, as it should", { suspended: true }, asleep, true],
    ["not when it still runs and should sleep", { suspended: true }, { ...asleep, desiredHash: "other" }, false],
    ["not when it sleeps and should not", {}, { ...serving, servingHash: "" }, false],
  ])("%s", (_rule, spec, status, expected) => {
    expect(isServing(environmentFixture({ spec, status }))).toBe(expected);
  });
});

describe("a pipeline speaks about the environment", () => {
  const pipeline = pipelineFixture();
  test.each<[string, EnvironmentSpec["backend"], EnvironmentStatus, boolean]>([
    ["when it builds the commit asked for", { ...backend, commit: commitA, pipelines: [pipeline] }, {}, true],
    ["not when it builds another one", { ...backend, commit: commitB, pipelines: [pipeline] }, {}, false],
    [
      "when it builds the head that was settled",
      { ...backend, pipelines: [pipeline] },
      { sources: { backend: { resolved: main } } },
      true,
    ],
    ["not while the head is not known", { ...backend, pipelines: [pipeline] }, {}, false],
    [
      "not when the head was settled for another branch",
      { ...backend, branch: "next", pipelines: [pipeline] },
      { sources: { backend: { resolved: main } } },
      false,
    ],
  ])("%s", (_rule, source, status, expected) => {
    const found = pipelinesOfDesiredCommits(environmentFixture({ spec: { backend: source }, status }));
    expect(found).toEqual(expected ? [{ ...pipeline, component: "backend" }] : []);
  });
});
