import { describe, expect, test } from "@jest/globals";
import type { StepCondition } from "../../../../../../crds/conditions.ts";
import { done, type StepResult, waiting } from "../../../../../../operator/controllers/environment/step-result.ts";
import {
  commitA,
  environmentFixture,
  minutesLater,
  pipelineFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { but, commitB, found, judged, readyOf, serving, soon, updated, updating } from "./judged-status.ts";

const commitC = "c".repeat(40);
const commitCSettled = done("Resolved", { findings: found(commitC, { running: commitA }) });

describe("the deadline", () => {
  const stuck: ReadonlyMap<StepCondition, StepResult> = new Map([
    ["NamespaceReady", waiting("Slow", "still waiting", soon)],
  ]);

  test.each([
    [15, "creating"],
    [15.1, "failed"],
    // The clock was set back.
    [-15, "creating"],
    [-15.1, "failed"],
  ])("of a creation: after %s minutes it is %s", (minutes, phase) => {
    const late = judged(environmentFixture(), stuck, minutes);
    expect(late.phase).toBe(phase);
    expect(readyOf(late)?.message).toContain("still waiting");
  });

  test("heals when the environment serves after all", () => {
    const late = judged(environmentFixture(), stuck, 20);
    expect(judged(environmentFixture({ status: late }), serving, 21).phase).toBe("ready");
  });

  test.each([
    [14, "updating"],
    [15.1, "failed"],
  ])("of an update: %s minutes after the change it is %s", (minutes, phase) => {
    const begun = judged(environmentFixture(updated), updating, 600);
    expect(begun).toMatchObject({ phase: "updating", rollout: { since: minutesLater(600).toISOString() } });
    const later = judged(environmentFixture({ ...updated, status: begun }), updating, 600 + minutes);
    expect(later).toMatchObject({ phase, rollout: begun.rollout });
  });

  const sourceUnknown = new Map([["SourceResolved", waiting("RepositoryHostUnavailable", "away", soon)]] as const);
  test.each([
    ["another commit that was settled", { commit: commitC }, but("SourceResolved", commitCSettled)],
    ["another branch whose head is not known yet", { branch: "other", commit: "" }, sourceUnknown],
  ])("begins anew with %s", (_what, source, results) => {
    const begun = judged(environmentFixture(updated), updating, 600);
    const spec = { backend: { ...updated.spec.backend, ...source } };
    const again = judged(environmentFixture({ spec, status: begun, metadata: { generation: 3 } }), results, 610);
    expect(again).toMatchObject({ phase: "updating", rollout: { since: minutesLater(610).toISOString() } });
  });

  test("begins anew when an override changes, also before its values are known", () => {
    const begun = judged(environmentFixture(updated), updating, 600);
    const spec = { ...updated.spec, overrides: { backend: { replicas: 2 } } };
    const away = new Map([["SecretsReady", waiting("SecretManagerUnavailable", "away", soon)]] as const);
    const again = judged(environmentFixture({ spec, status: begun, metadata: { generation: 3 } }), away, 610);
    expect(again.rollout?.since).toBe(minutesLater(610).toISOString());
  });

  test.each([
    ["the end of the pipeline that built the commit", "success", 640, 655],
    ["the end of our patience with one that fell silent", "running", 600, 735],
  ] as const)("is counted from %s", (_what, status, at, until) => {
    const pipeline = pipelineFixture({ commit: commitB, status, at: minutesLater(at).toISOString() });
    const specified = { ...updated, spec: { backend: { ...updated.spec.backend, pipelines: [pipeline] } } };
    const begun = judged(environmentFixture(specified), updating, 600);
    expect(judged(environmentFixture({ ...specified, status: begun }), updating, until).phase).toBe("updating");
    expect(judged(environmentFixture({ ...specified, status: begun }), updating, until + 0.1).phase).toBe("failed");
  });

  test("is not moved by the pipeline of a commit that is not wanted", () => {
    const pipeline = pipelineFixture({ commit: commitC, status: "success", at: minutesLater(640).toISOString() });
    const specified = { ...updated, spec: { backend: { ...updated.spec.backend, pipelines: [pipeline] } } };
    const begun = judged(environmentFixture(specified), updating, 600);
    expect(judged(environmentFixture({ ...specified, status: begun }), updating, 615.1).phase).toBe("failed");
  });

  test("is not moved by an extension", () => {
    const begun = judged(environmentFixture(updated), updating, 600);
    const extended = { spec: { ...updated.spec, ttlHours: 48 }, status: begun, metadata: { generation: 3 } };
    expect(judged(environmentFixture(extended), updating, 614).rollout).toEqual(begun.rollout);
  });
});

test("an extension buys no time while the git host is away either", () => {
  const away = new Map([["SourceResolved", waiting("RepositoryHostUnavailable", "away", soon)]] as const);
  const begun = judged(environmentFixture(), away, 1);
  const extended = { spec: { ttlHours: 48 }, status: begun, metadata: { generation: 2 } };
  expect(judged(environmentFixture(extended), away, 14).rollout).toEqual(begun.rollout);
  expect(judged(environmentFixture(extended), away, 16).phase).toBe("failed");
});
