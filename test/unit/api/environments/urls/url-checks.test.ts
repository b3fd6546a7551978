import { expect, test } from "@jest/globals";
import { createUrlChecks } from "../../../../../api/environments/urls/url-checks.ts";
import { ClusterUnavailable } from "../../../../../crds/errors.ts";
import { memoryProber } from "../../../../support/doubles/memory/prober.ts";
import { memoryRepositories } from "../../../../support/doubles/memory/repositories.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";

test("a check that failed is not kept: the next one asks", async () => {
  const repositories = memoryRepositories();
  let isKnown = false;
  const find = (name: string) => {
    if (!isKnown) throw new ClusterUnavailable(5);
    return repositories.find(name);
  };
  const prober = memoryProber();
  const checks = createUrlChecks({ prober, repositories: { ...repositories, find }, clock: new TestClock() });
  const environment = environmentFixture({ status: { urls: { backend: "https://shop.example.test" } } });
  await expect(checks.check(environment)).rejects.toBeInstanceOf(ClusterUnavailable);
  isKnown = true;
  expect((await checks.check(environment)).results.backend?.status).toBe("healthy");
  expect(prober.requested).toHaveLength(1);
});
