import { describe, expect, test } from "@jest/globals";
import type { Condition } from "../../../../crds/conditions.ts";
import { createProbeSchedule } from "../../../../operator/environment/probe-schedule.ts";
import type { StepContext } from "../../../../operator/environment/step.ts";
import { availability } from "../../../../operator/environment/steps/availability.ts";
import type { ProbeResult } from "../../../../operator/ports/url-prober.ts";
import {
  CREATED,
  environmentFixture,
  fixtureSettings,
  minutesLater,
  repositoryFixture,
} from "../../../support/environment-fixture.ts";
import { memoryRepositories } from "../../../support/memory-repositories.ts";
import { TestClock } from "../../../support/test-clock.ts";

interface Scene {
  readonly urlsReady?: Condition["status"];
  readonly sinceMinutes?: number;
  /** Whether what runs now answered before. */
  readonly wasReady?: boolean;
  readonly atMinutes?: number;
  readonly answer?: ProbeResult["status"];
}

async function step({ urlsReady, sinceMinutes = 0, wasReady, atMinutes = 0, answer = "unreachable" }: Scene) {
  const clock = new TestClock(minutesLater(atMinutes).toISOString());
  const asked: string[] = [];
  const prober = {
    async probe(url: string, path: string) {
      asked.push(url + path);
      return { status: answer, responseTimeMs: 1, message: "it answered 503" };
    },
  };
  const condition = urlsReady && {
    ...{ type: "UrlsReady", status: urlsReady, reason: "Before", message: "" },
    lastTransitionTime: minutesLater(sinceMinutes).toISOString(),
  };
  const status = {
    conditions: condition ? [condition] : [],
    components: { backend: { revision: "0123456789ab+hash" } },
    ...(wasReady ? { readyAt: CREATED, answered: "hash" } : {}),
  };
  const repositories = memoryRepositories(repositoryFixture("shop-api", { healthPath: "/healthz" }));
  const context = { settings: fixtureSettings, clock, prober, repositories } as unknown as StepContext;
  const schedule = createProbeSchedule(clock, 60_000);
  const result = await availability(schedule).run(environmentFixture({ status }), context);
  return { result, asked, schedule, clock };
}

describe("the URLs", () => {
  test("earn ready by an answer at the health path", async () => {
    const { result, asked } = await step({ answer: "healthy" });
    expect(asked).toEqual(["https://shop--api.env.localhost:18443/healthz"]);
    expect(result).toMatchObject({
      state: "done",
      findings: { readyAt: CREATED, url: "https://shop--api.env.localhost:18443" },
    });
  });

  test("keep the moment of the first readiness", async () => {
    const { result } = await step({ answer: "healthy", urlsReady: "False", wasReady: true, atMinutes: 60 });
    expect(result.findings).toMatchObject({ readyAt: CREATED });
  });

  test("are not asked before their time when they answered", async () => {
    const { result, asked } = await step({ urlsReady: "True", wasReady: true });
    expect(asked).toEqual([]);
    expect(result.state).toBe("done");
  });

  test.each([
    [
      "never answered, new",
      { urlsReady: "Unknown" },
      { state: "waiting", reason: "NotAnswering", recheckAfterMs: 100 },
    ],
    ["never answered, a minute", { urlsReady: "Unknown", atMinutes: 1 }, { state: "waiting", recheckAfterMs: 2_000 }],
    ["never answered, long", { urlsReady: "Unknown", atMinutes: 6 }, { state: "waiting", recheckAfterMs: 10_000 }],
    [
      "down for less than five minutes",
      { urlsReady: "Unknown", wasReady: true, atMinutes: 4.9 },
      { state: "waiting", reason: "UrlDown" },
    ],
    [
      "down for five minutes",
      { urlsReady: "Unknown", wasReady: true, atMinutes: 5 },
      { state: "failed", reason: "UrlDown", recheckAfterMs: 10_000 },
    ],
    [
      "failed and still down",
      { urlsReady: "False", wasReady: true, atMinutes: 5 },
      { state: "failed", reason: "UrlDown" },
    ],
    [
      "failed and answering again",
      { urlsReady: "False", wasReady: true, atMinutes: 5, answer: "healthy" },
      { state: "done" },
    ],
    [
      "answering with an error",
      { answer: "unhealthy" },
      { state: "waiting", message: "https://shop--api.env.localhost:18443 is unhealthy: it answered 503" },
    ],
  ] as const)("%s", async (_what, scene, expected) => {
    expect((await step(scene)).result).toMatchObject(expected);
  });
});
