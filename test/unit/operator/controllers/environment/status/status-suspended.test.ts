import { describe, expect, test } from "@jest/globals";
import { findCondition, type StepCondition } from "../../../../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { sameStatus, statusAfter } from "../../../../../../operator/controllers/environment/status/status.ts";
import {
  done,
  type StepResult,
  waiting,
  withFindings,
} from "../../../../../../operator/controllers/environment/step-result.ts";
import {
  commitA,
  environmentFixture,
  fixtureSettings,
  minutesLater,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { but, found, judged, ready, serving, soon, stepConditions, updated } from "./judged-status.ts";

describe("a suspended environment", () => {
  const suspended = environmentFixture({ spec: { suspended: true }, status: ready, metadata: { generation: 2 } });
  const asleep = { ...found(commitA, { running: commitA, spec: { suspended: true } }), servingHash: "" };
  const sleeping = but("UrlsReady", done("Suspended", { findings: asleep }));

  test("is ready, and has the condition Suspended", () => {
    const status = judged(suspended, sleeping, 600);
    expect(status.phase).toBe("ready");
    expect(findCondition(status.conditions, "Suspended")).toMatchObject({ status: "True", reason: "Suspended" });
    expect(sameStatus(status, judged({ ...suspended, status }, sleeping, 900))).toBe(true);
  });

  test("is ready also when it never ran", () => {
    const { readyAt: _, ...never } = asleep;
    const made = environmentFixture({ spec: { suspended: true } });
    expect(judged(made, but("UrlsReady", done("Suspended", { findings: never }))).phase).toBe("ready");
  });

  test("is updating until all of it is scaled to zero", () => {
    const specified = { ...asleep, desiredHash: "hash of values" };
    const falling = but("ApplicationSynced", withFindings(waiting("Syncing", "", soon), specified));
    const status = judged(suspended, falling, 600);
    expect(status.phase).toBe("updating");
    expect(findCondition(status.conditions, "Suspended")).toBeUndefined();
  });

  test("is not suspended before its application is", () => {
    const stopped: ReadonlyMap<StepCondition, StepResult> = new Map<StepCondition, StepResult>([
      ["SecretsReady", waiting("Slow", "slow", soon)],
      ["UrlsReady", done("Suspended", { findings: { servingHash: "" } })],
    ]);
    expect(findCondition(judged(suspended, stopped, 600).conditions, "Suspended")).toBeUndefined();
  });

  test("stays suspended while another commit is applied", () => {
    const status = judged(suspended, sleeping, 600);
    const moved = environmentFixture({ ...updated, spec: { ...updated.spec, suspended: true }, status });
    const syncing = but("ApplicationSynced", waiting("Syncing", "", soon));
    expect(findCondition(judged(moved, syncing, 610).conditions, "Suspended")?.status).toBe("True");
  });

  test("is resumed only when its URLs have answered again", () => {
    const status = judged(suspended, sleeping, 600);
    const woken = environmentFixture({ status, metadata: { generation: 3 } });
    const up = { ...found(commitA, { running: commitA }), servingHash: "" };
    const silent = but("UrlsReady", withFindings(waiting("NotAnswering", "silent", soon), up));
    const waking = judged(woken, silent, 610);
    expect(waking.phase).toBe("updating");
    expect(findCondition(waking.conditions, "Suspended")).toBeUndefined();
    expect(judged({ ...woken, status: waking }, serving, 611).phase).toBe("ready");
  });
});

describe("an environment that sleeps when idle", () => {
  const since = "2026-01-01T00:00:00.000Z";
  const idle = (state: "awake" | "asleep") =>
    environmentFixture({ status: { ...ready, sleep: { state, since, cause: "idle", afterIdleMinutes: 60 } } });
  const conditionOf = (environment: EphemeralEnvironment, type: "Asleep" | "ActivityUnknown", problem?: string) =>
    findCondition(
      statusAfter(environment, serving, {
        now: minutesLater(1),
        settings: fixtureSettings,
        conditions: stepConditions,
        activityProblem: problem,
      }).conditions,
      type,
    );

  test("says so while its requests are not known, and it is awake", () => {
    const problem = "the ingress does not answer";
    expect(conditionOf(idle("awake"), "ActivityUnknown", problem)).toMatchObject({ status: "True", message: problem });
    expect(conditionOf(idle("asleep"), "ActivityUnknown", problem)).toBeUndefined();
    expect(conditionOf(idle("awake"), "ActivityUnknown")).toBeUndefined();
    expect(conditionOf(environmentFixture({ status: ready }), "ActivityUnknown", problem)).toBeUndefined();
  });

  test("says that it was idle", () => {
    const spec = { ...idle("asleep").spec, suspended: true };
    const asleep = { ...idle("asleep"), spec };
    const rest = but(
      "UrlsReady",
      done("Suspended", { findings: { ...found(commitA, { running: commitA, spec }), servingHash: "" } }),
    );
    expect(findCondition(judged(asleep, rest, 600).conditions, "Asleep")?.message).toMatch(/was idle and is asleep/);
  });
});
