import { expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../../../config/settings.ts";
import type { EnvironmentStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { runSteps } from "../../../../../../operator/controllers/environment/run-steps.ts";
import { createSchedule } from "../../../../../../operator/controllers/environment/schedule.ts";
import type { Step } from "../../../../../../operator/controllers/environment/step.ts";
import { application } from "../../../../../../operator/controllers/environment/steps/application.ts";
import { configuration } from "../../../../../../operator/controllers/environment/steps/configuration.ts";
import { isolation } from "../../../../../../operator/controllers/environment/steps/isolation.ts";
import { namespace } from "../../../../../../operator/controllers/environment/steps/namespace.ts";
import { secrets } from "../../../../../../operator/controllers/environment/steps/secrets.ts";
import { source } from "../../../../../../operator/controllers/environment/steps/source.ts";
import { KubeError } from "../../../../../../operator/kit/client/errors.ts";
import { networkPolicyKind, resourceQuotaKind } from "../../../../../../operator/kit/client/kinds.ts";
import { DeployerUnavailable } from "../../../../../../operator/ports/deployer.ts";
import { memoryCluster } from "../../../../../support/doubles/memory/cluster.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { memorySecretManager } from "../../../../../support/doubles/memory/secret-manager.ts";
import { stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../../../support/fixtures/test-settings.ts";
import { endless } from "../step-runs.ts";

function world() {
  const clock = new TestClock();
  const now = () => clock.now();
  const [cluster, secretManager] = [memoryCluster(now), memorySecretManager(now)];
  const hostCredentials = [{ id: "shop", hosts: ["registry.test"] }];
  const imagePullSecretRef = { name: "shop", key: "latest" };
  const requested: string[] = [];
  let isDown = false;
  const request = (what: string) => {
    if (isDown) throw new DeployerUnavailable("it is away");
    requested.push(what);
  };
  const dependencies = stepDependencies({
    clock,
    cluster,
    secretManager,
    settings: settingsFrom({ ...testSettings, secrets: { hostCredentials } }),
    repositories: memoryRepositories(repositoryFixture("shop-api", { imagePullSecretRef })),
    deployer: {
      ensureProject: async () => request("ensureProject"),
      async ensure() {
        request("ensure");
        return "created";
      },
      observe: () => undefined,
    },
  });
  const schedule = createSchedule(clock, 600_000);
  secretManager.share({ id: "shop", labels: {}, values: ["reader:one"] });
  const plan: readonly Step[] = [
    namespace(dependencies),
    configuration(dependencies),
    isolation(dependencies),
    secrets(dependencies, { probes: schedule, secretChecks: schedule }),
    source(dependencies),
    application(dependencies),
  ];
  let status: EnvironmentStatus = {};
  return {
    cluster,
    secretManager,
    requests: requested,
    setDown(is: boolean) {
      isDown = is;
    },
    async pass() {
      const { results, error } = await runSteps(plan, environmentFixture({ status }), endless);
      status = Object.assign({}, status, ...[...results.values()].map(({ findings }) => findings));
      return { results, error };
    },
    made: (kind: string) => cluster.titles().filter((title) => title.startsWith(`${kind}/`)),
  };
}

test.each([
  { name: "its quota", kind: resourceQuotaKind },
  { name: "its network policies", kind: networkPolicyKind },
])("pods get no Secret before $name can be made, and at once when it can", async ({ kind }) => {
  const { cluster, secretManager, pass, made, requests: requested } = world();
  cluster.fail(kind, new KubeError({ status: 403, reason: "Forbidden" }));
  const { results } = await pass();
  expect(results.get("SecretsReady")).toMatchObject({ state: "waiting", reason: "NotIsolated" });
  expect([made("Secret"), requested]).toEqual([[], []]);
  // Work outside the namespace is done meanwhile.
  expect(await secretManager.holdsAny(environmentFixture().metadata, ["SECRET_KEY"])).toBe(true);

  cluster.fail(kind, undefined);
  expect((await pass()).results.get("SecretsReady")).toMatchObject({ state: "done" });
  expect(made("Secret")).toHaveLength(2);
  expect(requested).toEqual(["ensureProject", "ensure"]);
});

test("a deployer that is down delays the application, and neither the isolation nor Secrets", async () => {
  const { setDown, pass, made } = world();
  setDown(true);
  const { results } = await pass();
  const states = Object.fromEntries([...results].map(([condition, { state, reason }]) => [condition, [state, reason]]));
  expect(states).toMatchObject({
    IsolationReady: ["done", "Enforced"],
    SecretsReady: ["done", "Mirrored"],
    ApplicationSynced: ["waiting", "DeployerUnavailable"],
  });
  expect(made("Secret")).toHaveLength(2);
  expect(made("NetworkPolicy")).toHaveLength(2);
});
