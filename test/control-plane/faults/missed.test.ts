import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type DrawnPlan, failures } from "../../support/faults/fault-run.ts";
import { createFaultWorld, type FaultWorld } from "../../support/faults/fault-world.ts";
import { leaks, orphans } from "../../support/faults/invariants.ts";
import { missedParts } from "../../support/faults/pull-requests/missed.ts";
import { meetParts, type PartsMet } from "../../support/faults/pull-requests/parts-met.ts";
import { type Outbox, watchOutbox } from "../../support/faults/pull-requests/reports.ts";
import { MISSED } from "./recorded.ts";

/** Speed of the operator's time: plans wait for the next read, and for five minutes after a failure. */
const PACE = 10;
/** Unread hooks of a host are read again after five minutes; a message waits as long for its next try. */
const CONVERGENCE_MS = 420_000;
/** `pull-requests.test.ts` has the faults of webhooks on pull requests. */
const IS_OF_MISSED =
  /^call (pullRequestReader|hooks)\.|WebhookDelivery|(create|delete) EphemeralEnvironment NAME$|Repository\/status, Hook|create Notification chat webhook/;
/**
 * A hook is read again after five minutes, a host that failed ten times after a quarter of an hour. `plans.test.ts` has
 * repeated failures with growing waits.
 */
const isShort = ({ plan: { target, fault } }: DrawnPlan) => fault.times < (target.startsWith("call hooks.") ? 3 : 10);
/** An unstored outcome of a changed or deleted delivery is left to that change's watch event: here there is none. */
const LEFT_TO_OTHERS = /WebhookDelivery\/status .*: (409$|404)/;
const isSelected = (drawn: DrawnPlan) => isShort(drawn) && !LEFT_TO_OTHERS.test(drawn.plan.title);

/** A minute of the operator's time is short: reads of pull requests may fall into a hook's plan. */
const isChance = (target: string, part: string) =>
  part === "hook is paused" && target.startsWith("call pullRequestReader.");

let world: FaultWorld;
let outbox: Outbox;
let met: PartsMet;

beforeAll(async () => {
  world = await createFaultWorld({ pace: PACE, convergenceMs: CONVERGENCE_MS, sweepMinutes: 1 });
  outbox = await watchOutbox(world.world.admin);
  await world.nextLife();
  const isTarget = (target: string, part: string) => IS_OF_MISSED.test(target) && !isChance(target, part);
  met = await meetParts(world, missedParts(world, outbox), { prefix: "missed", isTarget, isSelected });
}, 1_800_000);
afterAll(async () => {
  await outbox.stop();
  await world.stop();
}, 60_000);

describe("every question to a host, and every write that follows, meets every fault", () => {
  test("the writes and calls of every part of life are the known ones", () => {
    expect(met.targets).toEqual(MISSED);
  });

  test("every plan happened; every environment is what its pull request is, and every hook is active", () => {
    expect(failures(met.outcomes)).toEqual([]);
    expect(met.outcomes).toHaveLength(met.names.length);
  });

  test("no environment ended but those whose pull request is closed", async () => {
    expect(await world.observer.violations()).toEqual([]);
    expect(await orphans(world.world.admin)).toEqual([]);
  });

  test("nothing readable holds a secret", () => {
    expect(leaks(world.observer.secretValues, [world.log()])).toEqual([]);
  });
});
