import { expect, test } from "@jest/globals";
import { type ConfigSetSpec, currentVersion, revisionName } from "../../../../../crds/config-set.ts";
import { planInput } from "../../../../../operator/controllers/environment/plan-input.ts";
import { memoryConfigSets } from "../../../../support/doubles/memory/config-sets.ts";
import { memoryRepositories } from "../../../../support/doubles/memory/repositories.ts";
import { partialDouble } from "../../../../support/doubles/partial-double.ts";
import { stepDependencies } from "../../../../support/doubles/step-dependencies.ts";
import { configSetFixture, environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";

const masking = (...mask: string[]): ConfigSetSpec => ({ database: { mask } });

test("a copy is masked by the version that its source has, and by its config set as it is now", () => {
  const now = configSetFixture("web", masking("UPDATE b"));
  const version = { ...currentVersion(now), version: 1, spec: masking("UPDATE a") };
  const revision = revisionName(version);
  const source = environmentFixture({
    metadata: { name: "staging" },
    spec: { configSet: { name: "web" } },
    status: { configSet: { name: "web", version: 1, revision } },
  });
  const copy = environmentFixture({ spec: { database: { provision: true, from: { environment: "staging" } } } });
  const sources = stepDependencies({
    repositories: memoryRepositories(),
    configSets: memoryConfigSets(now),
    configSetVersions: partialDouble({ find: (name) => (name === revision ? version : undefined) }),
    environment: () => source,
  });
  expect(planInput(copy, sources).copySource).toEqual({
    environment: source,
    masks: ["UPDATE a", "UPDATE b"],
    isConfigured: true,
  });
});
