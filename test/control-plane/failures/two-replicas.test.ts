import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import type { AuditRecord } from "../../../operator/ports/audit-trail.ts";
import { until } from "../../support/fixtures/until.ts";
import type { PlatformProcess } from "../../support/plane/platform-process.ts";
import { podSecretRef } from "../../support/worlds/environment-world.ts";
import { creation, type ReplicaPair, startReplicaPair } from "../../support/worlds/replica-pair.ts";

/** Enough that every kill meets some in progress, and few enough for two cores. */
const CREATIONS = 24;
const CLIENTS = 8;

let pair: ReplicaPair;
beforeAll(async () => {
  pair = await startReplicaPair();
}, 120_000);
beforeEach(() => pair.untilReady(), 90_000);
afterAll(() => pair.stop(), 60_000);

test("a status reconciliation repairs what no watch reports, on either replica", async () => {
  await pair.haveReady("looked-at");
  const message = "Status reconciled: environment 'looked-at' is ready";
  for (const one of pair.replicas) {
    await pair.world.admin.delete(secretKind, podSecretRef("looked-at"));
    // Within five seconds of the one before it would be the same.
    const isRepaired = async () => {
      const reply = await pair.call(one, "/environments/looked-at/reconcile-status", { method: "POST" });
      expect(reply).toMatchObject({ status: 200, body: { status: "success", message } });
      return pair.world.admin.find(secretKind, podSecretRef("looked-at"));
    };
    await until(isRepaired, { what: "the Secret", deadlineMs: 10_000, everyMs: 100 });
  }
}, 60_000);

describe("under load", () => {
  /** Successful answers to clients: every id by key. */
  let reported: Map<string, Set<string>>;
  const successes = () => [...reported.values()].filter((ids) => ids.size > 0).length;

  /** Every fourth client disconnects on its first answers, and loses its first success. */
  const isUnlucky = (index: number) => index % 4 === 0;
  const patienceMs = (index: number, attempt: number) => (isUnlucky(index) && attempt < 2 ? 5 : 10_000);

  /** A client that retries, at both replicas in turn, until it gets a success. */
  async function createOnce(name: string, index: number): Promise<void> {
    const key = randomUUID();
    const ids = new Set<string>();
    reported.set(key, ids);
    let attempt = 0;
    let isLossDue = isUnlucky(index);
    const isReported = async () => {
      const replica = pair.replicas[(index + attempt) % 2] as PlatformProcess;
      const sent = { body: creation(name), key, signal: AbortSignal.timeout(patienceMs(index, attempt)) };
      attempt += 1;
      const reply = await pair.call(replica, "/environments", sent).catch(() => undefined);
      // A failure is always temporary.
      if (reply !== undefined) expect([200, 503]).toContain(reply.status);
      if (reply?.status !== 200) return false;
      if (isLossDue) {
        isLossDue = false;
        return false;
      }
      ids.add(reply.body.environment?.id ?? "");
      return true;
    };
    await until(isReported, { what: `a success for ${name}`, deadlineMs: 60_000, everyMs: 20 });
  }

  /** Creates environments by several clients at once; answers their names. */
  async function load(prefix: string): Promise<string[]> {
    reported = new Map();
    const names = Array.from({ length: CREATIONS }, (_, index) => `${prefix}-${index}`);
    const waiting = names.entries();
    const clients = Array.from({ length: CLIENTS }, async () => {
      for (const [index, name] of waiting) await createOnce(name, index);
    });
    await Promise.all(clients);
    return names;
  }

  /** The number of accepted creations of each name: all but one are repetitions. */
  function acceptedCreations(names: readonly string[]): ReadonlyMap<string, number> {
    const lines = pair.replicas
      .flatMap(({ output }) => output.split("\n"))
      .filter((line) => line.startsWith('{"log":"audit"'));
    const records = lines.map((line) => JSON.parse(line) as Partial<AuditRecord>);
    const accepted = records.filter(({ action, outcome }) => action === "createEnvironment" && outcome === "accepted");
    return new Map(names.map((name) => [name, accepted.filter(({ target }) => target === name).length]));
  }

  const untilSuccesses = (count: number) =>
    until(() => successes() >= count, { what: `${count} successes`, deadlineMs: 60_000 });

  test.each([
    ["killed", (replica: PlatformProcess) => replica.kill()],
    ["asked to stop", (replica: PlatformProcess) => replica.terminate()],
  ] as const)(
    "a replica that is %s loses no accepted creation, and a client that retries sees one environment",
    async (how, end) => {
      const prefix = how.replaceAll(" ", "-");
      const loading = load(prefix);
      for (const [index, replica] of pair.replicas.entries()) {
        await untilSuccesses((CREATIONS / 4) * (index + 1));
        await end(replica);
        await replica.start();
      }
      const names = await loading;
      expect([...reported.values()].map((ids) => ids.size)).toEqual(names.map(() => 1));
      const { items } = await pair.world.admin.list(environmentType);
      const made = items.filter(({ metadata }) => metadata.name.startsWith(prefix));
      const ids = [...reported.values()].flatMap((one) => [...one]);
      expect(made.map(({ metadata }) => metadata.uid).sort()).toEqual(ids.sort());
      // Without a repetition the test would show nothing.
      expect(Math.max(...acceptedCreations(names).values())).toBeGreaterThan(1);
    },
    240_000,
  );
});
