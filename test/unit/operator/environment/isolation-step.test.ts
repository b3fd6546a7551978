import { expect, test } from "@jest/globals";
import type { ChartSource } from "../../../../crds/repository.ts";
import type { StepContext } from "../../../../operator/environment/step.ts";
import { isolation } from "../../../../operator/environment/steps/isolation.ts";
import { environmentFixture, fixtureSettings, repositoryFixture } from "../../../support/environment-fixture.ts";
import { memoryRepositories } from "../../../support/memory-repositories.ts";

const chart: ChartSource = { repoUrl: "https://git.test/charts.git", path: "shop", revision: "main" };

test.each([
  { name: "the chart of its Repository", given: [repositoryFixture("shop-api", { chart })], expected: [chart] },
  { name: "the default chart", given: [repositoryFixture("shop-api")], expected: [fixtureSettings.defaultChart] },
  { name: "what it was before, while its Repository is not there", given: [], expected: [] },
])("the deployer is confined to $name", async ({ given, expected }) => {
  const confined: ChartSource[] = [];
  const context = {
    settings: fixtureSettings,
    repositories: memoryRepositories(...given),
    cluster: { ensure: async () => "unchanged" },
    deployer: { confine: async (_owner: object, to: ChartSource) => void confined.push(to) },
  } as unknown as StepContext;
  expect(await isolation.run(environmentFixture(), context)).toMatchObject({ state: "done" });
  expect(confined).toEqual(expected);
});
