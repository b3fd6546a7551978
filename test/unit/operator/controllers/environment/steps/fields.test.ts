import { expect, test } from "@jest/globals";
import { EnvironmentStatus } from "../../../../../../crds/environment/environment-status.schema.ts";
import { BACKING_SERVICES } from "../../../../../../operator/controllers/environment/backing-services/index.ts";
import { createSchedule } from "../../../../../../operator/controllers/environment/schedule.ts";
import { environmentSteps } from "../../../../../../operator/controllers/environment/steps/index.ts";
import { stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";

const schedule = createSchedule(new TestClock(), 60_000);
const dependencies = stepDependencies({ backingServices: BACKING_SERVICES });
const steps = environmentSteps(dependencies, { probes: schedule, secretChecks: schedule });
/** Status fields that no step writes, by their writer. */
const OTHER_WRITERS = {
  reconciler: [
    "phase",
    "conditions",
    "observedGeneration",
    "observedAuditId",
    "ttlHours",
    "expiresAt",
    "expiryNotBefore",
    "protected",
    "protectedUntil",
    "specChangedAt",
    "rollout",
    "sleep",
    "announced",
    "lastHandledReconcileAt",
    "manifest",
    "usage",
    "sleeps",
  ],
  deletion: ["teardown"],
  feedback: ["feedback"],
  costs: ["allocations"],
};

test("every status field has exactly one writer: a step, the reconciler, the deletion, the feedback or the costs", () => {
  const written = [...steps.flatMap(({ writes }) => writes), ...Object.values(OTHER_WRITERS).flat()];
  expect([...written].sort()).toEqual(Object.keys(EnvironmentStatus.properties).sort());
});

test("no two steps have the same condition, and a step comes after those that it needs", () => {
  const conditions = steps.map(({ condition }) => condition);
  expect(new Set(conditions).size).toBe(conditions.length);
  for (const [index, { after }] of steps.entries()) {
    expect(conditions.slice(0, index)).toEqual(expect.arrayContaining([...after]));
  }
});
