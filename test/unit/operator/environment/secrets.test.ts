import { expect, test } from "@jest/globals";
import { Sensitive } from "../../../../crds/sensitive.ts";
import { createSchedule } from "../../../../operator/environment/schedule.ts";
import { failed, type StepContext, waiting } from "../../../../operator/environment/step.ts";
import { secrets } from "../../../../operator/environment/steps/secrets.ts";
import {
  environmentFixture,
  fixtureSettings,
  minutesLater,
  repositoryFixture,
} from "../../../support/environment-fixture.ts";
import { memoryCluster } from "../../../support/memory-cluster.ts";
import { memoryRepositories } from "../../../support/memory-repositories.ts";
import { memorySecretManager } from "../../../support/memory-secret-manager.ts";
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
