import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { failures } from "../../support/faults/fault-run.ts";
import { createFaultWorld, type FaultWorld } from "../../support/faults/fault-world.ts";
import { leaks, orphans } from "../../support/faults/invariants.ts";
import { pullRequestParts, WARNING_HOURS } from "../../support/faults/pull-requests/lifecycles.ts";
import { meetParts, type PartsMet } from "../../support/faults/pull-requests/parts-met.ts";
import { type Outbox, watchOutbox } from "../../support/faults/pull-requests/reports.ts";
import { until } from "../../support/fixtures/until.ts";
import { REPORTED } from "./recorded.ts";

/** Speed of the operator's time: failed reports are retried after ten to ninety seconds. */
const PACE = 3;
/** The next process sends a dead one's message after 90 seconds, with those queued behind it. */
const CONVERGENCE_MS = 180_000;
const QUIET_MS = 60_000;
/** `plans.test.ts` has the faults of writes for any creation and deletion. */
const IS_OF_PULL_REQUESTS =
  /WebhookDelivery|Notification|EphemeralEnvironment(\/status)? NAME(, (hold|release|a change|what|the report)|$)|EnvironmentRecord|^call (pullRequestHost|chat|mail)\.|^call secretManager\.read/;

let world: FaultWorld;
let outbox: Outbox;
let met: PartsMet;

beforeAll(async () => {
  world = await createFaultWorld({ pace: PACE, convergenceMs: CONVERGENCE_MS, warningHours: WARNING_HOURS });
  outbox = await watchOutbox(world.world.admin);
  await world.nextLife();
  const isTarget = (target: string) => IS_OF_PULL_REQUESTS.test(target);
  met = await meetParts(world, pullRequestParts(world, outbox), { prefix: "pull", isTarget });
}, 1_800_000);
afterAll(async () => {
  await outbox.stop();
  await world.stop();
}, 60_000);

describe("every write and every call meets every fault, for environments that webhooks lead", () => {
  test("the writes and calls of every part of life are the known ones", () => {
    expect(met.targets).toEqual(REPORTED);
  });

  test("every plan happened; every environment is what its pull request is, and its host and chat know it", () => {
    expect(failures(met.outcomes)).toEqual([]);
    expect(met.outcomes).toHaveLength(met.names.length);
  });

  test("nothing that must never happen was seen meanwhile", async () => {
    expect(await world.observer.violations()).toEqual([]);
    expect(await orphans(world.world.admin)).toEqual([]);
  });

  test("at rest, nothing is written, and no message is sent", async () => {
    const calls = () => met.names.map((name) => [name, world.field.of(name).calls.filter(isTelling).length]);
    const reported = calls();
    const written = world.observer.noteChanges();
    const endMs = world.clock.monotonicMs() + QUIET_MS;
    await until(() => world.clock.monotonicMs() > endMs, { what: "the quiet", deadlineMs: QUIET_MS });
    expect(written()).toEqual([]);
    expect(calls()).toEqual(reported);
  }, 90_000);

  test("nothing readable holds a secret", () => {
    const readable = met.names.flatMap((name) => [outbox.deliveriesOf(name), outbox.messagesOf(name)]);
    expect(leaks(world.observer.secretValues, [world.log(), JSON.stringify(readable)])).toEqual([]);
  });
});

const isTelling = (call: string) => /^call (pullRequestHost|chat|mail)\./.test(call);
