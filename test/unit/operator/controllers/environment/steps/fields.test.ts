import { expect, test } from "@jest/globals";
import { EnvironmentStatus } from "../../../../../../crds/environment/environment-status.schema.ts";
import { BACKING_SERVICES } from "../../../../../../operator/controllers/environment/backing-services/index.ts";
import { createSchedule } from "../../../../../../operator/controllers/environment/schedule.ts";
import type { Step } from "../../../../../../operator/controllers/environment/step.ts";
import {
  type CostField,
  type DeletionField,
  done,
  type FeedbackField,
  failed,
  RECONCILER_FIELDS,
  withFindings,
} from "../../../../../../operator/controllers/environment/step-result.ts";
import { environmentSteps } from "../../../../../../operator/controllers/environment/steps/index.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";

const schedule = createSchedule(new TestClock(), 60_000);
const steps = environmentSteps(BACKING_SERVICES, { probes: schedule, secretChecks: schedule });
const OTHER_FIELDS: readonly (DeletionField | FeedbackField | CostField)[] = ["teardown", "feedback", "allocations"];

test("every status field has exactly one writer: a step, the reconciler, the deletion, the feedback or the costs", () => {
  const written = [...steps.flatMap(({ writes }) => writes), ...RECONCILER_FIELDS, ...OTHER_FIELDS];
  expect([...written].sort()).toEqual(Object.keys(EnvironmentStatus.properties).sort());
});

test("no two steps have the same condition, and a step comes after those that it needs", () => {
  const conditions = steps.map(({ condition }) => condition);
  expect(new Set(conditions).size).toBe(conditions.length);
  for (const [index, { after }] of steps.entries()) {
    expect(conditions.slice(0, index)).toEqual(expect.arrayContaining([...after]));
  }
});

const own = { namespace: "env-shop" };
const foreign = { url: "https://shop.test" };
const unknown = { wrongName: 1 };

/** The compiler checks these steps: a directive without an error below it is an error. */
test("a step finds only the fields that it writes", () => {
  const step = { condition: "NamespaceReady", after: [], writes: ["namespace"] } as const;
  const refused: Step<"namespace">[] = [
    { ...step, run: async () => done("Created", { findings: own }) },
    // @ts-expect-error The field belongs to another step.
    { ...step, run: async () => done("Created", { findings: foreign }) },
    // @ts-expect-error The same with a spread.
    { ...step, run: async () => done("Created", { findings: { ...own, ...foreign } }) },
    // @ts-expect-error The same, added to a result.
    { ...step, run: async () => withFindings(failed("Broken", ""), foreign) },
    // @ts-expect-error The same in a literal.
    { ...step, run: async () => ({ ...done("Created"), findings: { ...own, ...foreign } }) },
    // @ts-expect-error There is no such field.
    { ...step, run: async () => done("Created", { findings: { wrongName: 1 } }) },
    // @ts-expect-error The same with a spread.
    { ...step, run: async () => done("Created", { findings: { ...own, ...unknown } }) },
    // @ts-expect-error The same, added to a result.
    { ...step, run: async () => withFindings(done("Created"), { ...own, ...unknown }) },
    // @ts-expect-error The same in a literal.
    { ...step, run: async () => ({ ...done("Created"), findings: { ...own, ...unknown } }) },
    // @ts-expect-error The reconciler computes it.
    { ...step, run: async () => done("Created", { findings: { phase: "ready" } }) },
    // @ts-expect-error It declares no field of that name.
    { ...step, writes: ["url"], run: async () => done("Created") },
  ];
  expect(refused).toHaveLength(11);
});
