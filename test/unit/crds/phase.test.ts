import { describe, expect, test } from "@jest/globals";
import { type Condition, type ConditionType, findCondition, transition } from "../../../crds/conditions.ts";
import { DEADLINE_EXCEEDED, phaseOf } from "../../../crds/phase.ts";
import { CREATED, minutesLater } from "../../support/environment-fixture.ts";

function condition(type: ConditionType, status: Condition["status"], reason = "Reason"): Condition {
  return { type, status, reason, message: "", lastTransitionTime: CREATED };
}

const synced = condition("ApplicationSynced", "True");
const readyAt = CREATED;

describe("phaseOf", () => {
  const late = [condition("Ready", "False", DEADLINE_EXCEEDED)];
  const serving = [synced, condition("Ready", "True")];
  const pursued = { readyAt, pursuing: { since: CREATED, source: "" } };

  test.each([
    ["no status at all", undefined, "creating"],
    ["nothing known", { conditions: [] }, "creating"],
    [
      "never ready and waiting",
      { conditions: [condition("Ready", "Unknown")], pursuing: { since: CREATED, source: "" } },
      "creating",
    ],
    ["never ready, late", { conditions: late, pursuing: { since: CREATED, source: "" } }, "failed"],
    ["a step failed for good", { conditions: [synced, condition("Ready", "False", "NameTaken")], readyAt }, "failed"],
    ["what is wanted serves", { conditions: serving, readyAt }, "ready"],
    ["something else is wanted", { conditions: [synced, condition("Ready", "Unknown")], ...pursued }, "updating"],
    ["something else is wanted, late", { conditions: late, ...pursued }, "failed"],
  ])("%s", (_given, status, expected) => {
    expect(phaseOf({ metadata: {}, status })).toBe(expected);
    expect(phaseOf({ metadata: { deletionTimestamp: CREATED }, status })).toBe("terminating");
  });
});

describe("a condition", () => {
  const now = minutesLater(5);
  const { lastTransitionTime: _, ...judgement } = condition("Ready", "True", "New");

  test("begins at its first judgement", () => {
    expect(transition(undefined, judgement, now).lastTransitionTime).toBe(now.toISOString());
  });

  test("keeps its moment while its status stays, whatever the reason", () => {
    expect(transition(condition("Ready", "True", "Old"), judgement, now)).toMatchObject({
      reason: "New",
      lastTransitionTime: CREATED,
    });
  });

  test("moves with its status", () => {
    expect(transition(condition("Ready", "False"), judgement, now).lastTransitionTime).toBe(now.toISOString());
  });

  test("is found by its type, or not at all", () => {
    expect(findCondition([synced], "ApplicationSynced")).toBe(synced);
    expect(findCondition([synced], "Ready")).toBeUndefined();
    expect(findCondition(undefined, "Ready")).toBeUndefined();
  });
});
