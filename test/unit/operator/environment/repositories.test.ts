import { describe, expect, test } from "@jest/globals";
import { chartOf, missingRepository, repositoriesOf } from "../../../../operator/environment/repositories.ts";
import { environmentFixture, fixtureSettings, repositoryFixture } from "../../../support/environment-fixture.ts";
import { memoryRepositories } from "../../../support/memory-repositories.ts";

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

describe("the Repositories of an environment", () => {
  test("are those of the components that it has", () => {
    expect(repositoriesOf(from("shop-api"), registered)).toEqual({ backend: api });
    expect(repositoriesOf(from("shop-api", "shop-web"), registered)).toEqual({ backend: api, frontend: web });
  });

  test("that are all there stop nothing", () => {
    expect(missingRepository(from("shop-api"), { backend: api })).toBeUndefined();
  });

  test.each([
    ["an absent backend", from("absent"), "no backend Repository 'absent' is registered"],
    ["an absent frontend", from("shop-api", "absent"), "no frontend Repository 'absent' is registered"],
    ["a backend given as frontend", from("shop-api", "shop-api"), "no frontend Repository 'shop-api' is registered"],
    ["a frontend given as backend", from("shop-web"), "no backend Repository 'shop-web' is registered"],
  ])("lack %s, and say so", (_what, environment, message) => {
    expect(missingRepository(environment, repositoriesOf(environment, registered))).toMatchObject({
      ...{ state: "failed", reason: "RepositoryNotFound" },
      message: expect.stringContaining(message),
    });
  });
});

test("the chart is the backend Repository's own, else the default one", () => {
  const chart = { repoUrl: "https://git.test/own.git", path: "chart", revision: "v1" };
  expect(chartOf({ backend: repositoryFixture("shop-api", { chart }) }, fixtureSettings)).toBe(chart);
  expect(chartOf({ backend: api }, fixtureSettings)).toBe(fixtureSettings.defaultChart);
});
