import { memoryEnvironments } from "../support/doubles/memory/environments.ts";
import { TestClock } from "../support/doubles/test-clock.ts";
import { environmentsSuite } from "./suites/environments.suite.ts";

environmentsSuite("in memory", async () => {
  const environments = memoryEnvironments(new TestClock());
  environments.setOperating(false);
  environments.holdFollowers();
  return {
    environments,
    setOperating: environments.setOperating,
    // The double blocks every environment from its creation on.
    hold: async () => undefined,
    release: async ({ metadata }) => environments.finishRemoval(metadata.name),
    stop: async () => undefined,
  };
});
