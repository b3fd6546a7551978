import { describe, expect, test } from "@jest/globals";
import { remarksOf, stepsOf } from "../../../../../clients/console/environment/steps.ts";
import type { EnvironmentCondition, EnvironmentStatus } from "../../../../../clients/sdk/index.ts";

const CREATED = "2026-06-01T12:00:00.000Z";
const second = (seconds: number) => new Date(Date.parse(CREATED) + seconds * 1000).toISOString();
const condition = (
  type: string,
  status: EnvironmentCondition["status"],
  seconds: number,
  message = "",
): EnvironmentCondition => ({ type, status, reason: "Reason", message, last_transition_time: second(seconds) });
const steps = (status: EnvironmentStatus, conditions: readonly EnvironmentCondition[], nowSeconds = 60) =>
  stepsOf({ conditions, created_at: CREATED, status }, Date.parse(second(nowSeconds)));

describe("the steps of an environment", () => {
  test("are in the order in which they were done, with what each added", () => {
    const shown = steps("creating", [
      condition("SecretsReady", "True", 5),
      condition("NamespaceReady", "True", 2),
      condition("Ready", "False", 0),
    ]);
    expect(shown.map(({ name, state, duration }) => [name, state, duration])).toEqual([
      ["Namespace", "done", "2.0 s"],
      ["Secrets", "done", "3.0 s"],
    ]);
  });

  test("that are waited for come last, and say since when and for what", () => {
    const waiting = condition("ApplicationSynced", "False", 10, "Pods start: 1 of 2 is ready");
    expect(steps("creating", [waiting, condition("NamespaceReady", "True", 2)]).at(-1)).toEqual({
      type: "ApplicationSynced",
      name: "Application",
      state: "waiting",
      duration: "50 s",
      reason: "Reason",
      message: "Pods start: 1 of 2 is ready",
    });
  });

  test("are failed only where the environment is, and never where they are not known", () => {
    const conditions = [condition("ApplicationSynced", "False", 1), condition("UrlsReady", "Unknown", 1)];
    expect(steps("failed", conditions).map(({ state }) => state)).toEqual(["failed", "waiting"]);
    expect(steps("updating", conditions).map(({ state }) => state)).toEqual(["waiting", "waiting"]);
  });

  test("that were done again days later have no duration", () => {
    const shown = steps("ready", [condition("NamespaceReady", "True", 2), condition("UrlsReady", "True", 90_000)]);
    expect(shown.map(({ duration }) => duration)).toEqual(["2.0 s", undefined]);
  });

  test("of a kind that the console does not know are shown by their type", () => {
    expect(steps("ready", [condition("QueueReady", "True", 1)])[0]?.name).toBe("QueueReady");
  });
});

test("what only informs stands beside the steps, while it holds", () => {
  const conditions = [
    condition("Ready", "True", 1),
    condition("Suspended", "True", 1),
    condition("Asleep", "True", 1),
    condition("SourceGone", "False", 1),
    condition("UrlsReady", "True", 1),
  ];
  expect(remarksOf(conditions).map(({ type }) => type)).toEqual(["Suspended", "Asleep"]);
  expect(steps("ready", conditions).map(({ type }) => type)).toEqual(["UrlsReady"]);
});
