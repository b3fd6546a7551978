import { describe, expect, test } from "@jest/globals";
import { MINUTE_MS } from "../../../../../../crds/durations.ts";
import { applicationKind, appProjectKind } from "../../../../../../operator/adapters/argocd/kinds.ts";
import { isOver } from "../../../../../../operator/controllers/environment/deletion/teardown.ts";
import { KubeError } from "../../../../../../operator/kit/client/errors.ts";
import { namespaceKind } from "../../../../../../operator/kit/client/kinds.ts";
import { minutesLater } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { HOLD, type Scene, scene, shop } from "./teardown-scene.ts";

const sentence = "Namespace 'env-shop' is being deleted";
const holder = (kind = "Namespace", reason = HOLD) => ({
  kind,
  name: "env-shop",
  reason,
  message: "a finalizer that is not removed yet",
});

describe("a teardown", () => {
  test.each<[string, (world: Scene) => unknown, string[], string[]]>([
    ["nothing holds", () => undefined, ["gone", "gone", "gone", "gone", "gone", "gone", "gone"], []],
    [
      "the application is blocked",
      ({ holdApplication }) => holdApplication(HOLD),
      ["gone", "waiting", "pending", "pending", "pending", "pending", "pending"],
      ["application", "project", "secrets", "namespace"],
    ],
    [
      "the namespace is blocked",
      ({ holdNamespace }) => holdNamespace(HOLD),
      ["gone", "gone", "gone", "gone", "waiting", "pending", "pending"],
      ["namespace"],
    ],
    [
      "the secret manager is away",
      ({ secretManager }) => secretManager.setReachable(false),
      ["gone", "gone", "gone", "waiting", "pending", "pending", "pending"],
      ["secrets", "namespace"],
    ],
    [
      "the record can't be written",
      ({ records }) => records.fail(new Error("full")),
      ["gone", "gone", "gone", "gone", "gone", "gone", "waiting"],
      [],
    ],
  ])("goes in order and no further than it may: %s", async (_what, make, states, left) => {
    const world = await scene();
    make(world);
    const done = await world.pass();
    expect(done.states).toEqual(states);
    expect(isOver(done)).toBe(states.at(-1) === "gone");
    world.secretManager.setReachable(true);
    expect(await world.left(shop)).toEqual(left);
    expect(world.records.list()).toHaveLength(isOver(done) ? 1 : 0);
  });

  test("reports to the host last, and waits two minutes for one that is away", async () => {
    const world = await scene();
    world.losesHost();
    const first = await world.pass();
    expect(first.states).toEqual(["gone", "gone", "gone", "gone", "gone", "waiting", "pending"]);
    expect(first.steps[5]).toMatchObject({ name: "feedback", message: "the host is away" });
    expect(isOver(await world.pass({ after: 1 }))).toBe(false);
    const last = await world.pass({ after: 1 });
    expect(isOver(last)).toBe(true);
    expect(last.steps[5]).toMatchObject({ state: "gone", message: "the host is away" });
  });

  test("ends although a fault prevents the report to the host, whose words it does not repeat", async () => {
    const world = await scene();
    world.losesHost(new TypeError("undefined is no function of the-token"));
    expect((await world.pass()).error).toBeInstanceOf(TypeError);
    const last = await world.pass({ after: 2 });
    expect(isOver(last)).toBe(true);
    expect(last.steps[5]?.message).toBe("the host could not get the report");
  });

  test("says since when a thing is gone, and since when one is waited for", async () => {
    const world = await scene();
    world.holdNamespace(HOLD);
    const first = await world.pass({ after: 1 });
    expect(first.steps[1]).toEqual({ name: "application", state: "gone", goneAt: minutesLater(1).toISOString() });
    const waiting = { name: "namespace", state: "waiting", message: sentence, since: minutesLater(1).toISOString() };
    expect(first.steps[4]).toEqual(waiting);
    expect((await world.pass({ after: 1 })).steps).toEqual(first.steps);
    world.holdNamespace();
    const { steps } = await world.pass({ after: 1 });
    expect(steps[4]).toEqual({ name: "namespace", state: "gone", goneAt: minutesLater(3).toISOString() });
  });

  test("asks for nothing but what it waits for", async () => {
    const world = await scene();
    world.holdNamespace(HOLD);
    await world.pass();
    const requested = () => [applicationKind, appProjectKind, namespaceKind].map((kind) => world.cluster.looks(kind));
    const before = requested();
    world.secretManager.setReachable(false);
    for (let again = 0; again < 10; again += 1) expect((await world.pass()).error).toBeUndefined();
    expect(requested()).toEqual([before[0], before[1], (before[2] ?? 0) + 10]);
  });

  test("reads everything again before the record, and removes what a late write has made since", async () => {
    const world = await scene();
    world.holdNamespace(HOLD);
    await world.pass();
    world.holdNamespace();
    await world.furnish(shop);
    world.holdApplication(HOLD);
    const late = await world.pass({ after: 60 });
    expect(late.states).toEqual(["gone", "waiting", "gone", "gone", "gone", "pending", "pending"]);
    expect(late.blockers).toEqual([]);
    expect(world.records.list()).toEqual([]);
    world.holdApplication();
    expect((await world.pass()).states).toEqual(["gone", "gone", "gone", "waiting", "gone", "pending", "pending"]);
    expect(isOver(await world.pass())).toBe(true);
    expect(await world.left(shop)).toEqual([]);
    expect(world.records.list()).toHaveLength(1);
  });

  test("hands a failure up and shows what it waits for, without details", async () => {
    const world = await scene();
    const failure = new KubeError({ status: 500, reason: "InternalError", detail: "secret detail" });
    world.cluster.fail(namespaceKind, failure);
    const { error, steps } = await world.pass();
    expect(error).toBe(failure);
    expect(JSON.stringify(steps)).not.toContain("secret detail");
    expect(steps[4]).toMatchObject({ state: "waiting", message: failure.message });
  });

  test.each<[string, (world: Scene) => unknown, number, object[]]>([
    ["nothing before the time", ({ holdNamespace }) => holdNamespace(HOLD), 4, []],
    ["what the port names", ({ holdNamespace }) => holdNamespace(HOLD), 5, [holder()]],
    [
      "why it can't be asked",
      ({ secretManager }) => secretManager.setReachable(false),
      5,
      [{ kind: "secrets", name: "", reason: "SecretManagerUnavailable", message: "the secret manager is away" }],
    ],
  ])("names as blockers: %s", async (_what, make, after, blockers) => {
    const world = await scene();
    make(world);
    expect((await world.pass()).blockers).toEqual([]);
    expect((await world.pass({ after })).blockers).toEqual(blockers);
  });

  test("says in the same words that something is waited for, whatever holds it, until it is stuck", async () => {
    const world = await scene();
    world.holdNamespace(HOLD, "example.test/other");
    const { steps } = await world.pass();
    expect(steps[4]).toMatchObject({ message: sentence });
    world.holdNamespace(HOLD);
    expect((await world.pass({ after: 4 })).steps).toEqual(steps);
    const message = `${sentence}, blocked by ${HOLD}: a finalizer that is not removed yet`;
    expect((await world.pass({ after: 1 })).steps[4]).toMatchObject({ message });
  });

  test("is not blind after the clock was set back: what seems to begin in the future began that long ago", async () => {
    const world = await scene();
    world.holdNamespace(HOLD);
    await world.pass();
    world.clock.setBack(60 * MINUTE_MS);
    expect((await world.pass()).blockers).toEqual([holder()]);
  });

  test("does not call stuck what fails once after a long wait for something else", async () => {
    const world = await scene();
    world.holdNamespace(HOLD);
    world.force("secrets");
    await world.pass();
    await world.pass({ after: 60 });
    world.holdNamespace();
    world.secretManager.setReachable(false);
    const blip = await world.pass({ after: 1 });
    expect(blip.states).toEqual(["gone", "gone", "gone", "waiting", "gone", "pending", "pending"]);
    expect(blip.blockers).toEqual([]);
    world.secretManager.setReachable(true);
    expect((await world.pass()).states).toEqual(Array(7).fill("gone"));
  });

  test("says only what the status can hold", async () => {
    const world = await scene();
    world.holdNamespace(...Array.from({ length: 20 }, (_, at) => `${"r".repeat(253)}/${at}`));
    await world.pass();
    const { blockers, steps } = await world.pass({ after: 5 });
    expect(blockers).toHaveLength(16);
    expect(blockers[0]).toMatchObject({ reason: expect.stringMatching(/^r{127}…$/) });
    expect(steps[4]?.message).toHaveLength(2048);
  });
});
