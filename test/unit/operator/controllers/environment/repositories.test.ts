import { describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import {
  componentRepositories,
  repositoryProblem,
} from "../../../../../operator/controllers/environment/repositories.ts";
import type { Repositories } from "../../../../../operator/ports/repositories.ts";
import { memoryRepositories } from "../../../../support/doubles/memory/repositories.ts";
import { environmentFixture, repositoryFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";

const api = repositoryFixture("shop-api");
const web = repositoryFixture("shop-web", { type: "frontend" });
const registered = memoryRepositories(api, web);

const from = (backend: string, frontend?: string) =>
  environmentFixture({
    spec: {
      backend: { repository: backend, branch: "main" },
      ...(frontend === undefined ? {} : { frontend: { repository: frontend, branch: "main" } }),
    },
  });

const problemOf = (
  environment: EphemeralEnvironment,
  repositories: Repositories = registered,
  others: readonly EphemeralEnvironment[] = [],
) => repositoryProblem(environment, { repositories, environmentsOf: () => [environment, ...others] });

describe("the Repositories of an environment", () => {
  test("are those of the components that it has", () => {
    expect(componentRepositories(from("shop-api"), registered)).toEqual({ backend: api });
    expect(componentRepositories(from("shop-api", "shop-web"), registered)).toEqual({ backend: api, frontend: web });
  });

  test("that are all there stop nothing", () => {
    expect(problemOf(from("shop-api", "shop-web"))).toBeUndefined();
  });

  test.each([
    ["an absent backend", from("absent"), "no backend Repository 'absent' is registered"],
    ["an absent frontend", from("shop-api", "absent"), "no frontend Repository 'absent' is registered"],
    ["a backend given as frontend", from("shop-api", "shop-api"), "no frontend Repository 'shop-api' is registered"],
    ["a frontend given as backend", from("shop-web"), "no backend Repository 'shop-web' is registered"],
  ])("lack %s, and say so", (_what, environment, message) => {
    expect(problemOf(environment)).toMatchObject({
      state: "failed",
      reason: "RepositoryNotFound",
      message: expect.stringContaining(message),
    });
  });
});

// Abuse case 106.
describe("a Repository that an environment without an owner may not have", () => {
  const theirs = repositoryFixture("shop-api", { access: { groups: ["shop"] } });
  const one = repositoryFixture("shop-api", { maxEnvironments: 1 });
  const mine = { metadata: { uid: "b" } };
  const older = environmentFixture({ metadata: { uid: "a" } });
  const granted = { sources: { backend: {} } };

  test("is another team's, and counts as none", () => {
    expect(problemOf(environmentFixture(), memoryRepositories(theirs))).toMatchObject({
      state: "failed",
      reason: "RepositoryNotShared",
      message: expect.stringContaining("spec.access.groups"),
    });
    expect(componentRepositories(environmentFixture(), memoryRepositories(theirs))).toEqual({});
  });

  test("is full until a place is free, and is checked again", () => {
    expect(problemOf(environmentFixture(mine), memoryRepositories(one), [older])).toMatchObject({
      state: "failed",
      reason: "RepositoryFull",
      requeueAfterMs: expect.any(Number),
      message: expect.stringContaining("maxEnvironments"),
    });
    expect(problemOf(environmentFixture(mine), memoryRepositories(one))).toBeUndefined();
  });

  test("is kept by what has it, whatever groups and limits become", () => {
    const environment = environmentFixture({ ...mine, status: granted });
    expect(problemOf(environment, memoryRepositories(one), [older])).toBeUndefined();
    expect(problemOf(environment, memoryRepositories(theirs))).toBeUndefined();
    expect(componentRepositories(environment, memoryRepositories(theirs))).toEqual({ backend: theirs });
  });

  test("does not apply where REST has checked the owner", () => {
    const owner = { subject: "https://i.test#dev", email: "", name: "" };
    const environment = environmentFixture({ ...mine, spec: { owner } });
    expect(problemOf(environment, memoryRepositories(theirs))).toBeUndefined();
    expect(problemOf(environment, memoryRepositories(one), [older])).toBeUndefined();
  });
});
