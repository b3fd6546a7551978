import { expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../config/settings.ts";
import type { EnvironmentStatus } from "../../../../crds/ephemeral-environment.ts";
import { Sensitive } from "../../../../crds/sensitive.ts";
import { createSchedule } from "../../../../operator/environment/schedule.ts";
import { failed, type StepContext, waiting } from "../../../../operator/environment/step.ts";
import { secrets } from "../../../../operator/environment/steps/secrets.ts";
import { secretKind } from "../../../../operator/kinds.ts";
import {
  environmentFixture,
  fixtureSettings,
  minutesLater,
  repositoryFixture,
} from "../../../support/environment-fixture.ts";
import { memoryCluster } from "../../../support/memory-cluster.ts";
import { memoryRepositories } from "../../../support/memory-repositories.ts";
import { memorySecretManager } from "../../../support/memory-secret-manager.ts";
import { testSettings } from "../../../support/platform-chart.ts";
import { TestClock } from "../../../support/test-clock.ts";

/** A pass ten minutes after the creation, when a value has been awaited since so many minutes after it. */
async function awaited(sinceMinutes: number) {
  const clock = new TestClock(minutesLater(10).toISOString());
  const now = () => clock.now();
  const moment = minutesLater(sinceMinutes).toISOString();
  const condition = { type: "SecretsReady", status: "Unknown", reason: "AwaitingValue", message: "" } as const;
  const environment = environmentFixture({
    spec: { secrets: { provided: ["SECRET_KEY"] } },
    status: { pursuing: { asked: "", since: moment }, conditions: [{ ...condition, lastTransitionTime: moment }] },
  });
  const context = {
    ...{ clock, settings: fixtureSettings, repositories: memoryRepositories(repositoryFixture()) },
    ...{ cluster: memoryCluster(now), secretManager: memorySecretManager(now) },
    generateSecret: () => new Sensitive("x"),
  } as unknown as StepContext;
  const { state, ...result } = await secrets(createSchedule(clock, 60_000)).run(environment, context);
  return { state, reason: "reason" in result && result.reason };
}

test.each([
  ["a minute", 9, "waiting"],
  ["two minutes", 8, "failed"],
  ["a moment that is a minute ahead, since the clock was set back", 11, "waiting"],
  ["a moment that is an hour ahead", 70, "failed"],
])("a value that somebody provides is awaited patiently for two minutes: %s", async (_since, minutes, state) => {
  expect(await awaited(minutes)).toEqual({ state, reason: "AwaitingValue" });
});

const podSecrets = ["environment-secrets-00000001"];
test.each([
  { name: "not before anything runs", given: { podSecrets }, state: failed("SecretNotFound", ""), expected: false },
  {
    name: "once something does",
    given: { podSecrets, wanted: "0" },
    state: failed("SecretNotFound", ""),
    expected: true,
  },
  {
    name: "not while a value may still come",
    given: { podSecrets, wanted: "0" },
    state: waiting("AwaitingValue", "", { recheckAfterMs: 1 }),
    expected: false,
  },
])("what was before stands in for a wish that can't be granted: $name", ({ given, state, expected }) => {
  const { stands } = secrets(createSchedule(new TestClock(), 60_000));
  expect(stands?.(environmentFixture({ status: given }), {} as StepContext, state)).toBe(expected);
});

test.each([
  { name: "is found within half a minute where a pod misses it", given: "Unknown", withinMinutes: 0.5 },
  { name: "is found by the next look where none does", given: "True", withinMinutes: 10 },
] as const)("a crash between two lives of the Secret of image pulls $name", async ({ given, withinMinutes }) => {
  const clock = new TestClock();
  const [cluster, secretManager] = [memoryCluster(() => clock.now()), memorySecretManager(() => clock.now())];
  const imagePullSecretRef = { name: "shop", key: "latest" };
  const hostCredentials = [{ id: "shop", hosts: ["registry.test"] }];
  const context = {
    ...{ clock, cluster, secretManager, generateSecret: () => new Sensitive("x") },
    settings: settingsFrom({ ...testSettings, secrets: { hostCredentials } }),
    repositories: memoryRepositories(repositoryFixture("shop-api", { imagePullSecretRef })),
  } as unknown as StepContext;
  const condition = { reason: "Any", message: "", lastTransitionTime: minutesLater(0).toISOString() };
  const stood = (["NamespaceReady", "SecretsReady"] as const).map((type) => ({ type, status: "True" as const }));
  const conditions = [...stood, { type: "ApplicationSynced", status: given }].map((one) => ({ ...one, ...condition }));
  let status: EnvironmentStatus = { conditions, wanted: "1" };
  const isHeld = () => cluster.titles().includes("Secret/image-pull");
  let step = secrets(createSchedule(clock, 600_000));
  const pass = async () => {
    const { findings } = await step.run(environmentFixture({ status }), context);
    status = { ...status, ...findings };
  };
  secretManager.share({ id: "shop", labels: {}, values: ["reader:one"] });
  await pass();
  expect(isHeld()).toBe(true);

  await cluster.remove(environmentFixture().metadata, secretKind, { name: "image-pull", namespace: "env-shop" });
  step = secrets(createSchedule(clock, 600_000));
  for (let half = 0; half < withinMinutes * 2; half += 1) {
    clock.advance(30_000);
    await pass();
  }
  expect(isHeld()).toBe(true);
});
