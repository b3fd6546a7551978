import { describe, expect, test } from "@jest/globals";
import type { EnvironmentRecord, RecordSpec } from "../../../../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { createCanaryReconciler } from "../../../../../operator/controllers/canary/reconcile.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import {
  environmentFixture,
  fixtureSettings,
  repositoryFixture,
} from "../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";

const NOW = "2026-01-01T12:00:00.000Z";
const minutesAgo = (minutes: number) => new Date(Date.parse(NOW) - minutes * 60_000).toISOString();

const aCanary = (minutes: number, phase: "creating" | "ready" | "failed" = "creating") =>
  environmentFixture({
    metadata: { name: "canary-1", creationTimestamp: minutesAgo(minutes) },
    spec: { trigger: { kind: "canary" } },
    status: { phase },
  });

/** The controller with these environments and with canaries recorded that many minutes ago. */
function scene(environments: readonly EphemeralEnvironment[], recordedMinutesAgo: readonly number[] = []) {
  const clock = new TestClock(NOW);
  const done: string[] = [];
  const records = recordedMinutesAgo.map((minutes) => {
    const spec = { createdAt: minutesAgo(minutes), trigger: { kind: "canary" } } as RecordSpec;
    return { spec } as EnvironmentRecord;
  });
  const reconcile = createCanaryReconciler({
    settings: { ...fixtureSettings, canary: { repository: "shop-api", everyMinutes: 60 } },
    caches: { environments: { list: () => [...environments] }, records: { list: () => records } },
    environments: {
      async remove({ metadata }) {
        done.push(`delete ${metadata.name}`);
        return "removing";
      },
    },
    repositories: { find: (name: string) => (name === "shop-api" ? repositoryFixture() : undefined) },
    writes: {
      async create(name) {
        done.push(`create ${name}`);
        return environmentFixture();
      },
    },
    clock,
    log: silentLog,
    newId: () => "id",
  });
  const run = () => reconcile("canary", { signal: new AbortController().signal, requeueUrgently: () => undefined });
  return { clock, done, run };
}

describe("a canary", () => {
  test("is made when there was none", async () => {
    const { done, run } = scene([environmentFixture()]);
    await run();
    expect(done).toEqual([expect.stringMatching(/^create canary-[0-9a-z]+$/)]);
  });

  test("is made again when the next one is due, and not before, though its record is not seen yet", async () => {
    const { clock, done, run } = scene([], [59, 300]);
    expect(await run()).toEqual({ requeueAfterMs: 60_000 });
    clock.advance(60_000);
    await run();
    expect(done).toHaveLength(1);
    expect(await run()).toEqual({ requeueAfterMs: 3_600_000 });
    expect(done).toHaveLength(1);
  });

  test.each([
    ["ready", aCanary(1, "ready"), true],
    ["failed", aCanary(1, "failed"), true],
    ["on its way", aCanary(15), false],
    ["on its way for longer than any may be", aCanary(16), true],
  ])("that is %s: is deleted %s", async (_state, found, isDeleted) => {
    const { done, run } = scene([found]);
    await run();
    expect(done).toEqual(isDeleted ? ["delete canary-1"] : []);
  });
});
