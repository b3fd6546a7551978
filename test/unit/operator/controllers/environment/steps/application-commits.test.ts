import { describe, expect, test } from "@jest/globals";
import type { EnvironmentStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { hashOfDesired } from "../../../../../../operator/controllers/environment/desired/values.ts";
import { done } from "../../../../../../operator/controllers/environment/step-result.ts";
import {
  application,
  desiredApplication,
} from "../../../../../../operator/controllers/environment/steps/application.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";

const former = "b".repeat(40);

interface Scene {
  readonly tagTemplate: string;
  /** The commit on the backend's pods. */
  readonly said?: string;
  readonly suspended?: boolean;
  /** The commit in the status for exactly this revision. */
  readonly before?: string;
}

/** The backend that the step finds running in a healthy application, and the number of pod reads. */
async function running({ tagTemplate, said, suspended = false, before }: Scene) {
  let reads = 0;
  const image = { repository: "registry.test/shop-api", tagTemplate };
  const dependencies = stepDependencies({
    clock: new TestClock(CREATED),
    repositories: memoryRepositories(repositoryFixture("shop-api", { image })),
    deployer: {
      ensureProject: async () => undefined,
      ensure: async () => "unchanged",
      observe: () => ({ state: "healthy", revision: "0123456789abcdef", message: "" }),
    },
    pods: {
      async commits() {
        reads += 1;
        return new Map(said === undefined ? [] : [["backend", said]]);
      },
      running: async () => [],
    },
  });
  const context = stepContext({ earlier: new Map([["SecretsReady", done("Mirrored")]]) });
  const applied = { branch: "main", commit: commitA, image: "registry.test/shop-api:a" };
  const environmentOf = (more: EnvironmentStatus = {}) =>
    environmentFixture({ spec: { suspended }, status: { sources: { backend: { applied } }, ...more } });
  const { chart, values } = desiredApplication(environmentOf(), dependencies);
  const revision = `0123456789ab+${hashOfDesired(chart, values)}`;
  const known = before === undefined ? {} : { components: { backend: { commit: before, revision } } };
  const { findings, requeueAfterMs } = await application(dependencies).run(environmentOf(known), context);
  return { backend: findings?.components?.backend, reads, requeueAfterMs };
}

describe("the commit that runs", () => {
  test.each<[string, Scene, { commit?: string; reads: number; requeueAfterMs?: number }]>([
    [
      "is the one of the image, where its tag says it",
      { tagTemplate: "{commit:7}", said: former },
      { commit: commitA, reads: 0 },
    ],
    [
      "is what the pods say, where the tag stays the same",
      { tagTemplate: "{branch}", said: commitA },
      { commit: commitA, reads: 1 },
    ],
    [
      "is never the one that was wanted",
      { tagTemplate: "{branch}", said: former },
      { commit: former, reads: 1, requeueAfterMs: 10_000 },
    ],
    [
      "is not known where the pods of a chart don't say it",
      { tagTemplate: "latest" },
      { reads: 1, requeueAfterMs: 300_000 },
    ],
    ["is read once for the same values", { tagTemplate: "{branch}", before: commitA }, { commit: commitA, reads: 0 }],
    [
      "is read again until it is the applied one",
      { tagTemplate: "{branch}", before: former, said: commitA },
      { commit: commitA, reads: 1 },
    ],
    [
      "is that of the next pods while there are none",
      { tagTemplate: "{branch}", suspended: true },
      { commit: commitA, reads: 0 },
    ],
  ])("%s", async (_name, scene, expected) => {
    const { backend, reads, requeueAfterMs } = await running(scene);
    expect(backend?.image).toBe("registry.test/shop-api:a");
    expect({ commit: backend?.commit, reads, requeueAfterMs }).toEqual(expected);
  });
});
