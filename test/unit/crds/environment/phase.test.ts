import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Condition, type ConditionType, findCondition, transition } from "../../../../crds/conditions.ts";
import { PHASES } from "../../../../crds/environment/environment-status.schema.ts";
import { BUILDING, DEADLINE_EXCEEDED, phaseOf } from "../../../../crds/environment/phase.ts";
import { CREATED, minutesLater } from "../../../support/fixtures/environment/environment-fixture.ts";

function condition(type: ConditionType, status: Condition["status"], reason = "Reason"): Condition {
  return { type, status, reason, message: "", lastTransitionTime: CREATED };
}

const synced = condition("ApplicationSynced", "True");
const readyAt = CREATED;

describe("phaseOf", () => {
  const failed = condition("Ready", "False", DEADLINE_EXCEEDED);
  const open = condition("Ready", "Unknown");
  const serving = condition("Ready", "True");
  const building = condition("SourceResolved", "Unknown", BUILDING);

  test.each([
    ["no status at all", undefined, "creating"],
    ["nothing known", { conditions: [] }, "creating"],
    ["never ready and waiting", { conditions: [open] }, "creating"],
    ["never ready, late", { conditions: [failed] }, "failed"],
    ["a step failed for good", { conditions: [synced, condition("Ready", "False", "NameTaken")], readyAt }, "failed"],
    ["a first commit is being built", { conditions: [building, open] }, "building"],
    ["another commit is being built", { conditions: [building, open], readyAt }, "building"],
    ["the commit that serves is built once more", { conditions: [building, serving], readyAt }, "building"],
    ["a commit is being built, and something failed", { conditions: [building, failed], readyAt }, "failed"],
    ["what is wanted serves", { conditions: [synced, serving], readyAt }, "ready"],
    ["it sleeps and was never awake", { conditions: [condition("Suspended", "True"), serving] }, "ready"],
    ["something else is wanted", { conditions: [synced, open], readyAt }, "updating"],
    ["something else is wanted, late", { conditions: [failed], readyAt }, "failed"],
  ])("%s", (_given, status, expected) => {
    expect(phaseOf({ metadata: {}, status })).toBe(expected);
    expect(phaseOf({ metadata: { deletionTimestamp: CREATED }, status })).toBe("terminating");
  });

  test("is one of the contract's, whatever is known", () => {
    const some = <T>(...values: T[]) => fc.constantFrom(...values);
    const conditions = fc.array(
      fc
        .tuple(
          some<ConditionType>("Ready", "SourceResolved", "UrlsReady", "Suspended", "PipelineSilent"),
          some<Condition["status"]>("True", "False", "Unknown"),
          some(BUILDING, DEADLINE_EXCEEDED, "Other"),
        )
        .map((parts) => condition(...parts)),
    );
    const status = fc.record({ conditions, readyAt: fc.constant(readyAt) }, { requiredKeys: [] });
    const deletionTimestamp = fc.option(fc.constant(CREATED), { nil: undefined });
    fc.assert(
      fc.property(fc.option(status, { nil: undefined }), deletionTimestamp, (known, deleted) => {
        const phase = phaseOf({ metadata: deleted ? { deletionTimestamp: deleted } : {}, status: known });
        expect(PHASES).toContain(phase);
        expect(phase === "terminating").toBe(deleted !== undefined);
        if (phase === "ready") expect(findCondition(known?.conditions, "Ready")?.status).toBe("True");
      }),
    );
  });
});

describe("a condition", () => {
  const now = minutesLater(5);
  const { lastTransitionTime: _, ...judgement } = condition("Ready", "True", "New");

  test("begins with the first draft", () => {
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
