import { describe, expect, test } from "@jest/globals";
import type { Condition } from "../../../../../../crds/conditions.ts";
import { RECONCILE_ANNOTATION } from "../../../../../../crds/group.ts";
import type { RepositorySpec } from "../../../../../../crds/repository/repository.ts";
import { createSchedule } from "../../../../../../operator/controllers/environment/schedule.ts";
import { availability } from "../../../../../../operator/controllers/environment/steps/availability.ts";
import type { ProbeResult, UrlProber } from "../../../../../../operator/ports/url-prober.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  CREATED,
  environmentFixture,
  minutesLater,
  repositoryFixture,
  UID,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";

interface Scene {
  readonly urlsReady?: Condition["status"];
  readonly sinceMinutes?: number;
  /** True when the running version answered before. */
  readonly wasReady?: boolean;
  readonly atMinutes?: number;
  readonly answer?: ProbeResult["status"];
  /** The reason why a probe is impossible. */
  readonly refusal?: Pick<ProbeResult, "isCertificateRefused" | "isAddressRefused">;
  /** Minutes since the last probe; absent: never. */
  readonly checkedMinutesAgo?: number;
  /** The running version, where it differs from the one that answered before. */
  readonly runs?: string;
  readonly suspended?: boolean;
  /** Further hosts of the Repository, and the answers of those of these names. */
  readonly hosts?: RepositorySpec["hosts"];
  readonly hostAnswers?: { readonly [name: string]: ProbeResult["status"] };
  /** The token that requests a reconcile, and the last answered one. */
  readonly tokens?: { readonly requested: string; readonly answered?: string };
}

const BACKEND = "https://shop--api.env.localhost:18443";

const PERIOD_MS = 60_000;

async function step({ urlsReady, sinceMinutes = 0, wasReady, atMinutes = 0, answer = "unreachable", ...more }: Scene) {
  const { checkedMinutesAgo, runs = "hash", suspended = false, refusal, tokens, hosts, hostAnswers = {} } = more;
  const clock = new TestClock(minutesLater(atMinutes - (checkedMinutesAgo ?? 0)).toISOString());
  const requested: string[] = [];
  const prober: UrlProber = {
    async probe(url, path) {
      requested.push(url + path);
      const name = /--(\w+)/.exec(url)?.[1] ?? "";
      return { status: hostAnswers[name] ?? answer, ...refusal, responseTimeMs: 1, message: "it answered 503" };
    },
  };
  const condition = urlsReady && {
    type: "UrlsReady",
    status: urlsReady,
    reason: "Before",
    message: "",
    lastTransitionTime: minutesLater(sinceMinutes).toISOString(),
  };
  const status = {
    conditions: condition ? [condition] : [],
    components: { backend: { revision: `0123456789ab+${runs}` } },
    ...(wasReady ? { readyAt: CREATED, servingHash: "hash", urls: { backend: BACKEND } } : {}),
    ...(tokens?.answered ? { lastHandledReconcileAt: tokens.answered } : {}),
  };
  const metadata = tokens ? { annotations: { [RECONCILE_ANNOTATION]: tokens.requested } } : {};
  const repositories = memoryRepositories(
    repositoryFixture("shop-api", { healthPath: "/healthz", ...(hosts && { hosts }) }),
  );
  const schedule = createSchedule(clock, PERIOD_MS);
  const dependencies = stepDependencies({ clock, prober, repositories });
  if (checkedMinutesAgo !== undefined) schedule.taken(UID);
  clock.advance((checkedMinutesAgo ?? 0) * 60_000);
  const result = await availability(dependencies, { probes: schedule, secretChecks: schedule }).run(
    environmentFixture({ metadata, spec: { suspended }, status }),
    stepContext(),
  );
  return { result, requests: requested, schedule, clock };
}

describe("the URLs", () => {
  test("earn ready by an answer at the health path", async () => {
    const { result, requests: requested } = await step({ answer: "healthy" });
    expect(requested).toEqual(["https://shop--api.env.localhost:18443/healthz"]);
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
    const { result, requests: requested } = await step({ urlsReady: "True", wasReady: true });
    expect(requested).toEqual([]);
    expect(result.state).toBe("done");
  });

  test("are asked again when a period has passed", async () => {
    const { result, requests: requested } = await step({
      urlsReady: "True",
      wasReady: true,
      answer: "healthy",
      atMinutes: 60,
      checkedMinutesAgo: 1,
    });
    expect(requested).toHaveLength(1);
    expect(result).toMatchObject({ state: "done", requeueAfterMs: PERIOD_MS });
  });

  test("are asked at once when something else runs behind them", async () => {
    const { result, requests: requested } = await step({
      urlsReady: "True",
      wasReady: true,
      runs: "new",
      answer: "healthy",
    });
    expect(requested).toHaveLength(1);
    expect(result.findings).toMatchObject({ servingHash: "new" });
  });

  test.each([
    ["at once when a reconcile is requested", { requested: "2" }, 1],
    ["at once when another reconcile is requested", { requested: "2", answered: "1" }, 1],
    ["no sooner for a request that was answered", { requested: "2", answered: "2" }, 0],
  ])("are asked %s", async (_when, tokens, times) => {
    const { requests: requested } = await step({ urlsReady: "True", wasReady: true, answer: "healthy", tokens });
    expect(requested).toHaveLength(times);
  });

  test("are not probed while suspended, and have to answer again after", async () => {
    const { result, requests: requested } = await step({
      urlsReady: "False",
      wasReady: true,
      suspended: true,
      atMinutes: 60,
    });
    expect(requested).toEqual([]);
    expect(result).toMatchObject({ state: "done", reason: "Suspended", findings: { servingHash: "" } });
  });

  test.each([
    ["not before they answered once", {}, false],
    ["ever after, whatever goes before", { readyAt: CREATED }, true],
  ])("are watched although the steps before are not done: %s", (_when, status, expected) => {
    const schedule = createSchedule(new TestClock(), PERIOD_MS);
    const { alwaysRun } = availability(stepDependencies({}), { probes: schedule, secretChecks: schedule });
    expect(alwaysRun?.(environmentFixture({ status }))).toBe(expected);
  });

  test.each([
    [
      "never answered, new",
      { urlsReady: "Unknown" },
      { state: "waiting", reason: "NotAnswering", requeueAfterMs: 100 },
    ],
    ["never answered, a minute", { urlsReady: "Unknown", atMinutes: 1 }, { state: "waiting", requeueAfterMs: 2_000 }],
    ["never answered, long", { urlsReady: "Unknown", atMinutes: 6 }, { state: "waiting", requeueAfterMs: 10_000 }],
    [
      "down for less than five minutes",
      { urlsReady: "Unknown", wasReady: true, atMinutes: 4.9 },
      { state: "waiting", reason: "UrlDown" },
    ],
    [
      "down for five minutes",
      { urlsReady: "Unknown", wasReady: true, atMinutes: 5 },
      { state: "failed", reason: "UrlDown", requeueAfterMs: 10_000 },
    ],
    [
      "down since a moment that is in the future because the clock was set back by an hour",
      { urlsReady: "Unknown", wasReady: true, atMinutes: -60 },
      { state: "failed", reason: "UrlDown" },
    ],
    [
      "down since a moment that is in the future by a second",
      { urlsReady: "Unknown", wasReady: true, atMinutes: -1 / 60 },
      { state: "waiting", reason: "UrlDown" },
    ],
    [
      "never answered, since a moment in the future",
      { urlsReady: "Unknown", atMinutes: -60 },
      { state: "waiting", requeueAfterMs: 10_000 },
    ],
    [
      "silent for the first time after long",
      { urlsReady: "True", wasReady: true, atMinutes: 600, checkedMinutesAgo: 1 },
      { state: "waiting", reason: "UrlDown" },
    ],
    [
      "failed a moment ago and still down",
      { urlsReady: "False", sinceMinutes: 5, wasReady: true, atMinutes: 5.1 },
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
      {
        state: "waiting",
        reason: "BadStatus",
        message: expect.stringMatching(
          /^backend: https:\/\/shop--api.env.localhost:18443\/healthz is unhealthy: it answered 503; .*healthPath/,
        ),
      },
    ],
    [
      "answering with an error for five minutes",
      { urlsReady: "Unknown", wasReady: true, atMinutes: 5, answer: "unhealthy" },
      { state: "failed", reason: "BadStatus" },
    ],
    [
      "behind a certificate that is not good for them",
      { refusal: { isCertificateRefused: true } },
      { state: "waiting", reason: "CertificateInvalid", message: expect.stringContaining("ingressCaFile") },
    ],
    [
      "behind an ingress with a private address that no setting names",
      { refusal: { isAddressRefused: true } },
      { state: "waiting", reason: "NotAnswering", message: expect.stringMatching(/; .*setting ingressAddress$/) },
    ],
  ] as const)("%s", async (_what, scene, expected) => {
    expect((await step(scene)).result).toMatchObject(expected);
  });
});

describe("a further host of the Repository", () => {
  const hosts = [{ name: "admin", healthPath: "/ping" }, { name: "docs" }];
  const urls = {
    backend: BACKEND,
    hosts: { admin: "https://shop--admin.env.localhost:18443", docs: "https://shop--docs.env.localhost:18443" },
  };

  test("has to answer at its health path, or at its root, as the components do", async () => {
    const { result, requests: requested } = await step({ answer: "healthy", hosts });
    expect(requested).toEqual([`${urls.backend}/healthz`, `${urls.hosts.admin}/ping`, `${urls.hosts.docs}/`]);
    expect(result).toMatchObject({ state: "done", findings: { readyAt: CREATED, url: urls.backend, urls } });
  });

  test("that does not answer is named, with what to do", async () => {
    const scene = { answer: "healthy", hosts, hostAnswers: { docs: "unhealthy" } } as const;
    const { result } = await step({ ...scene, urlsReady: "Unknown" });
    expect(result).toMatchObject({ state: "waiting", reason: "BadStatus", findings: { urls } });
    expect(result).toMatchObject({
      message:
        "host 'docs': https://shop--docs.env.localhost:18443/ is unhealthy: it answered 503; check that the chart has an Ingress or HTTPRoute with the host ${hosts.docs}, or correct spec.hosts of the backend's Repository",
    });
  });

  test("that is down for long fails the environment, as a component does", async () => {
    const scene = { answer: "healthy", hosts, hostAnswers: { admin: "unreachable" } } as const;
    const { result } = await step({ ...scene, urlsReady: "Unknown", wasReady: true, atMinutes: 5 });
    expect(result).toMatchObject({
      state: "failed",
      reason: "UrlDown",
      message: expect.stringMatching(/^host 'admin'/),
    });
  });

  test("is asked at once when it is listed later", async () => {
    const { result, requests: requested } = await step({ urlsReady: "True", wasReady: true, answer: "healthy", hosts });
    expect(requested).toContain(`${urls.hosts.admin}/ping`);
    expect(result).toMatchObject({ state: "done", findings: { urls } });
  });

  test("is in the status while suspended, and not asked", async () => {
    const { result, requests: requested } = await step({ suspended: true, hosts });
    expect(requested).toEqual([]);
    expect(result.findings).toMatchObject({ urls });
  });
});
