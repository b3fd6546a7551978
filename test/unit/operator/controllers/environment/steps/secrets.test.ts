import { expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../../../config/settings.ts";
import type { EnvironmentStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { RECONCILE_ANNOTATION } from "../../../../../../crds/group.ts";
import { credentialsIn } from "../../../../../../operator/controllers/environment/desired/pull-secret.ts";
import { createSchedule } from "../../../../../../operator/controllers/environment/schedule.ts";
import { failed, waiting } from "../../../../../../operator/controllers/environment/step-result.ts";
import { secrets } from "../../../../../../operator/controllers/environment/steps/secrets.ts";
import { secretKind } from "../../../../../../operator/kit/client/kinds.ts";
import { memoryCluster } from "../../../../../support/doubles/memory/cluster.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { memorySecretManager } from "../../../../../support/doubles/memory/secret-manager.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  environmentFixture,
  minutesLater,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../../../support/fixtures/test-settings.ts";

function schedules(clock: TestClock, periodMs: number) {
  const schedule = createSchedule(clock, periodMs);
  return { probes: schedule, secretChecks: schedule };
}

/** A reconcile ten minutes after the creation, for a value awaited since that minute. */
async function awaited(sinceMinutes: number) {
  const clock = new TestClock(minutesLater(10).toISOString());
  const now = () => clock.now();
  const moment = minutesLater(sinceMinutes).toISOString();
  const condition = { type: "SecretsReady", status: "Unknown", reason: "AwaitingValue", message: "" } as const;
  const environment = environmentFixture({
    spec: { secrets: { provided: ["SECRET_KEY"] } },
    status: { rollout: { specHash: "", since: moment }, conditions: [{ ...condition, lastTransitionTime: moment }] },
  });
  const dependencies = stepDependencies({
    clock,
    repositories: memoryRepositories(repositoryFixture()),
    cluster: memoryCluster(now),
    secretManager: memorySecretManager(now),
  });
  const step = secrets(dependencies, schedules(clock, 60_000));
  const { state, ...result } = await step.run(environment, stepContext());
  return { state, reason: "reason" in result && result.reason };
}

test.each([
  ["a minute", 9, "waiting"],
  ["two minutes", 8, "failed"],
  ["a moment that is a minute ahead, since the clock was set back", 11, "waiting"],
  ["a moment that is an hour ahead", 70, "failed"],
])("a value that a user provides is awaited patiently for two minutes: %s", async (_since, minutes, state) => {
  expect(await awaited(minutes)).toEqual({ state, reason: "AwaitingValue" });
});

const podSecrets = ["environment-secrets-00000001"];
test.each([
  { name: "not before anything runs", given: { podSecrets }, state: failed("SecretNotFound", ""), expected: false },
  {
    name: "once something does",
    given: { podSecrets, desiredHash: "0" },
    state: failed("SecretNotFound", ""),
    expected: true,
  },
  {
    name: "not while a value may still come",
    given: { podSecrets, desiredHash: "0" },
    state: waiting("AwaitingValue", "", { requeueAfterMs: 1 }),
    expected: false,
  },
])("the former secrets are used while a request is refused: $name", ({ given, state, expected }) => {
  const { continueWithPrevious } = secrets(stepDependencies({}), schedules(new TestClock(), 60_000));
  expect(continueWithPrevious?.(environmentFixture({ status: given }), state)).toBe(expected);
});

/** Reconciles of an environment with a pull credential of the secret manager, on one clock. */
function pullingWorld(applicationSynced: "True" | "Unknown") {
  const clock = new TestClock();
  const [cluster, secretManager] = [memoryCluster(() => clock.now()), memorySecretManager(() => clock.now())];
  const imagePullSecretRef = { name: "shop", key: "latest" };
  const hostCredentials = [{ id: "shop", hosts: ["registry.test"] }];
  const repository = repositoryFixture("shop-api", { imagePullSecretRef });
  const repositories = memoryRepositories(repository);
  const settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });
  const dependencies = stepDependencies({ clock, cluster, secretManager, repositories, settings });
  const context = stepContext({ canContinueAfter: async () => true });
  const condition = { reason: "Any", message: "", lastTransitionTime: minutesLater(0).toISOString() };
  const stood = (["NamespaceReady", "SecretsReady"] as const).map((type) => ({ type, status: "True" as const }));
  const synced = { type: "ApplicationSynced", status: applicationSynced } as const;
  let status: EnvironmentStatus = {
    conditions: [...stood, synced].map((one) => ({ ...one, ...condition })),
    desiredHash: "1",
  };
  let step = secrets(dependencies, schedules(clock, 600_000));
  const store = (value: string) => secretManager.share({ id: "shop", labels: {}, values: [value] });
  store("reader:one");
  return {
    clock,
    cluster,
    secretManager,
    store,
    repository,
    repositories,
    restart() {
      step = secrets(dependencies, schedules(clock, 600_000));
    },
    async pass(annotations: Record<string, string> = {}) {
      const environment = environmentFixture({ status });
      const requested = { ...environment, metadata: { ...environment.metadata, annotations } };
      const { findings, ...result } = await step.run(requested, context);
      status = { ...status, ...findings, ...handled(annotations) };
      return result;
    },
    async held() {
      const found = await cluster.read(environmentFixture().metadata, secretKind, PULLED);
      return credentialsIn(found).get("registry.test")?.reveal();
    },
  };
}

const PULLED = { name: "image-pull", namespace: "env-shop" };
const handled = ({ [RECONCILE_ANNOTATION]: token }: Record<string, string>) =>
  token === undefined ? {} : { lastHandledReconcileAt: token };

test.each([
  { name: "is found within half a minute where a pod misses it", given: "Unknown", withinMinutes: 0.5 },
  { name: "is found by the next check where none does", given: "True", withinMinutes: 10 },
] as const)("a crash while the Secret of image pulls is replaced $name", async ({ given, withinMinutes }) => {
  const { clock, cluster, pass, held, restart } = pullingWorld(given);
  await pass();
  expect(await held()).toBe("reader:one");
  await cluster.remove(environmentFixture().metadata, secretKind, PULLED);
  restart();
  for (let half = 0; half < withinMinutes * 2; half += 1) {
    clock.advance(30_000);
    await pass();
  }
  expect(await held()).toBe("reader:one");
});

test("a renewed credential that is asked for while the secret manager is away is had soon after it came back", async () => {
  const { clock, secretManager, store, pass, held } = pullingWorld("True");
  await pass();
  store("reader:two");
  secretManager.setReachable(false);
  const { state, requeueAfterMs } = await pass({ [RECONCILE_ANNOTATION]: "now" });
  expect([state, await held()]).toEqual(["done", "reader:one"]);
  secretManager.setReachable(true);
  clock.advance(requeueAfterMs ?? Number.NaN);
  await pass();
  expect(requeueAfterMs).toBeLessThan(30_000);
  expect(await held()).toBe("reader:two");
});

test("a renewed credential that is asked for while its Repository is not seen is had soon after that is", async () => {
  const { clock, repository, repositories, store, pass, held } = pullingWorld("True");
  await pass();
  store("reader:two");
  // A refilling cache with an old list lacks it for a moment.
  repositories.drop("shop-api");
  const { state, requeueAfterMs } = await pass({ [RECONCILE_ANNOTATION]: "now" });
  expect([state, await held()]).toEqual(["done", "reader:one"]);
  repositories.put(repository);
  clock.advance(requeueAfterMs ?? Number.NaN);
  await pass();
  expect(requeueAfterMs).toBeLessThan(30_000);
  expect(await held()).toBe("reader:two");
});
