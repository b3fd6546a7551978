import { describe, expect, test } from "@jest/globals";
import { type Condition, type ConditionType, findCondition, transition } from "../../../crds/conditions.ts";
import { DEADLINE_EXCEEDED, phaseOf, UPDATING } from "../../../crds/phase.ts";
import { CREATED, minutesLater } from "../../support/environment-fixture.ts";

function condition(type: ConditionType, status: Condition["status"], reason = "Reason"): Condition {
  return { type, status, reason, message: "", lastTransitionTime: CREATED };
}

const synced = condition("ApplicationSynced", "True");
const readyAt = CREATED;

describe("phaseOf", () => {
  test.each([
    ["nothing known", { conditions: [] }, "creating"],
    ["no status at all", undefined, "creating"],
    ["never ready and waiting", { conditions: [condition("ApplicationSynced", "Unknown")] }, "creating"],
    ["never ready, late", { conditions: [condition("Ready", "False", DEADLINE_EXCEEDED)] }, "failed"],
    ["a step failed before it was ever ready", { conditions: [condition("NamespaceReady", "False")] }, "failed"],
    ["a step failed after it was ready", { conditions: [synced, condition("UrlsReady", "False")], readyAt }, "failed"],
    ["ready", { conditions: [synced, condition("UrlsReady", "True")], readyAt }, "ready"],
    [
      "another revision wanted",
      { conditions: [condition("ApplicationSynced", "Unknown", UPDATING)], readyAt },
      "updating",
    ],
    [
      "another revision wanted before it was ever ready",
      { conditions: [condition("ApplicationSynced", "Unknown", UPDATING)] },
      "creating",
    ],
    ["a pod restarts", { conditions: [condition("ApplicationSynced", "Unknown", "Progressing")], readyAt }, "ready"],
    [
      "a URL is silent for a moment",
      { conditions: [synced, condition("UrlsReady", "Unknown", "UrlDown")], readyAt },
      "ready",
    ],
    [
      "an update that is late",
      {
        conditions: [
          condition("ApplicationSynced", "Unknown", UPDATING),
          condition("Ready", "False", DEADLINE_EXCEEDED),
        ],
        readyAt,
      },
      "failed",
    ],
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
