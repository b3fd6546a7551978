import { describe, expect, test } from "@jest/globals";
import { HOUR_MS, MINUTE_MS } from "../../../../../crds/durations.ts";
import { HostedWorld } from "../../../../support/worlds/hosted-world.ts";
import { commitOf } from "../../../../support/worlds/webhook-world.ts";

const CLOSED = { state: "closed", merged: true } as const;

async function withEnvironment(numbers = [7]) {
  const hosted = new HostedWorld();
  for (const number of numbers) await hosted.arrive({ ...hosted.hosts({ number }), action: "opened" });
  expect(hosted.commits).toHaveLength(numbers.length);
  hosted.world.nowMs += HOUR_MS;
  return hosted;
}

describe("a sweep", () => {
  test("makes the environment of a pull request whose opening was missed, by a delivery that says so", async () => {
    const hosted = new HostedWorld();
    hosted.hosts();
    const [found] = await hosted.sweep();
    expect(found?.spec).toMatchObject({ source: "refetch", host: "git", eventName: "refetch", verified: true });
    expect(found?.spec.event.pullRequest).toMatchObject({ action: "opened", number: 7 });
    expect(hosted.commits).toEqual([commitOf("a")]);
    expect(await hosted.sweep()).toEqual([]);
  });

  test("follows a commit whose push was missed", async () => {
    const hosted = await withEnvironment();
    hosted.hosts({ headCommit: commitOf("b") });
    await hosted.sweep();
    expect(hosted.commits).toEqual([commitOf("b")]);
  });

  test("deletes the environment of a pull request whose end was missed", async () => {
    const hosted = await withEnvironment();
    hosted.hosts(CLOSED);
    await hosted.sweep();
    expect(hosted.commits).toEqual([]);
    expect(hosted.host.requests).toContain(7);
  });

  test("deletes the environment of a known end: two replicas opened and closed it at the same moment", async () => {
    const hosted = await withEnvironment();
    const closed = hosted.hosts(CLOSED);
    hosted.world.claim({ type: "pull_request", pullRequest: { ...closed, action: "closed" } });
    expect(hosted.commits).toHaveLength(1);
    await hosted.sweep();
    expect(hosted.commits).toEqual([]);
    expect(await hosted.sweep()).toEqual([]);
  });

  test.each([{ protected: true }, { protectedUntil: "2026-01-09T00:00:00Z" }])(
    "stores nothing of a known end whose environment is protected: %j",
    async (shield) => {
      const hosted = await withEnvironment();
      const [environment] = hosted.world.living;
      if (environment === undefined) throw new Error("there is no environment");
      hosted.world.put({ ...environment, spec: { ...environment.spec, ...shield } });
      await hosted.arrive({ ...hosted.hosts(CLOSED), action: "closed" });
      expect(await hosted.sweep()).toEqual([]);
      expect(hosted.commits).toHaveLength(1);
    },
  );

  test("does not read by a name that the host no longer has for it: it may be another's", async () => {
    const hosted = new HostedWorld({ status: { hostRepository: { id: "7", fullName: "shop/new", host: "git" } } });
    hosted.hosts();
    expect(await hosted.sweep()).toEqual([]);
    await hosted.arrive({ action: "opened", updatedAt: "2026-01-01T00:00:10.000Z" });
    await hosted.arrive({ action: "closed", state: "closed", updatedAt: "2026-01-01T00:00:10.000Z" });
    expect(hosted.host.requests).toEqual([]);
  });

  test.each([
    ["its corrected name, before its condition says so", { fullName: "shop/shop-api", host: "git" }],
    ["its name, where another host had another one", { fullName: "shop/new", host: "former" }],
  ])("reads by %s", async (_, known) => {
    const condition = { type: "NameCurrent", status: "False", reason: "Renamed", message: "", lastTransitionTime: "" };
    const hosted = new HostedWorld({
      status: { hostRepository: { id: "7", ...known }, conditions: [condition] } as never,
    });
    hosted.hosts();
    expect(await hosted.sweep()).toHaveLength(1);
  });

  test("makes nothing of pull requests from before the Repository, or from long ago", async () => {
    const hosted = new HostedWorld();
    hosted.world.nowMs += 10 * 24 * HOUR_MS;
    hosted.hosts({ number: 1, updatedAt: "2025-12-31T23:00:00.000Z" });
    hosted.hosts({ number: 2, updatedAt: "2026-01-02T00:00:00.000Z" });
    hosted.hosts({ number: 3 });
    const found = await hosted.sweep();
    expect(found.map(({ spec }) => spec.event.pullRequest?.number)).toEqual([3]);
  });

  test("never makes again what a user deleted, also when the deliveries of that time are dropped", async () => {
    const hosted = await withEnvironment();
    const [environment] = hosted.world.living;
    if (environment !== undefined) hosted.world.remove(environment);
    hosted.world.finishDeletions();
    hosted.world.nowMs += HOUR_MS;
    // A comment changes the time of a pull request.
    hosted.hosts();
    expect(await hosted.sweep()).toEqual([]);
    hosted.world.deliveries.length = 0;
    const [record] = hosted.world.records.splice(0);
    if (record === undefined) throw new Error("the deletion left no record");
    hosted.world.records.push({ ...record, spec: { ...record.spec, cause: "deletedByUser" } });
    expect(await hosted.sweep()).toHaveLength(1);
    expect(hosted.commits).toEqual([]);

    hosted.hosts({ headCommit: commitOf("b"), updatedAt: new Date(hosted.world.nowMs + MINUTE_MS).toISOString() });
    await hosted.sweep();
    expect(hosted.commits).toEqual([commitOf("b")]);
  });

  test("ends nothing when the host fails, has never heard of it, or lists nothing", async () => {
    const hosted = await withEnvironment([7, 8]);
    hosted.host.fail(true);
    await expect(hosted.sweep()).rejects.toThrow("the host is away");
    hosted.host.fail(false);
    hosted.host.pulls.clear();
    expect(await hosted.sweep()).toEqual([]);
    expect(hosted.host.requests.slice(-2)).toEqual([7, 8]);
    expect(hosted.commits).toHaveLength(2);
  });

  test("ends nothing when most pull requests are said to have ended at once, and says so", async () => {
    const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
    const hosted = await withEnvironment(numbers);
    for (const number of numbers.slice(1)) hosted.hosts({ number, ...CLOSED });
    await hosted.sweep();
    expect(hosted.commits).toHaveLength(numbers.length);
    expect(hosted.recorded.lines).toContainEqual(expect.objectContaining({ level: "error", environments: 8, ends: 7 }));
  });

  test("asks for what GitHub could not deliver in the last three days, and counts in one line", async () => {
    const hosted = await withEnvironment();
    await hosted.sweep();
    const since = new Date(hosted.world.nowMs - 72 * HOUR_MS);
    expect(hosted.host.redelivered).toEqual([{ address: "https://platform.test/api/webhooks/", since }]);
    expect(hosted.recorded.lines).toEqual([
      {
        level: "info",
        message: "a host was asked for missed pull requests",
        repository: "shop-api",
        open: 1,
        unlisted: 0,
        failed: 0,
        missed: 0,
        redelivered: 0,
      },
    ]);
  });
});

describe("the next sweep", () => {
  test("comes after the minutes of the settings, or never", async () => {
    expect(await new HostedWorld().reconcile()).toEqual({ requeueAfterMs: 30 * MINUTE_MS });
    expect(await new HostedWorld({ sweepMinutes: 0 }).reconcile()).toEqual({});
  });

  test("comes soon when a pull request could not be asked for", async () => {
    const hosted = await withEnvironment();
    hosted.host.pulls.clear();
    const { reader } = hosted.host;
    reader.pullRequest = async () => Promise.reject(new Error("the host is slow"));
    expect(await hosted.reconcile()).toEqual({ requeueAfterMs: 5 * MINUTE_MS });
    expect(hosted.commits).toHaveLength(1);
  });

  test("comes soon until each of more than two hundred has been asked for, then in its time, and begins anew", async () => {
    const numbers = Array.from({ length: 250 }, (_, index) => index + 1);
    const hosted = await withEnvironment(numbers);
    hosted.host.pulls.clear();
    for (const [minutes, expected] of [
      [5, numbers.slice(0, 200)],
      [30, numbers.slice(200)],
      [5, numbers.slice(0, 200)],
    ] as const) {
      hosted.host.requests.length = 0;
      expect(await hosted.reconcile()).toEqual({ requeueAfterMs: minutes * MINUTE_MS });
      expect(hosted.host.requests).toEqual(["open", ...expected]);
    }
  });

  test("comes when a host that limits its calls wants it", async () => {
    const hosted = new HostedWorld();
    hosted.host.fail(true, 42_000);
    expect(await hosted.reconcile()).toEqual({ requeueAfterMs: 42_000 });
  });
});
