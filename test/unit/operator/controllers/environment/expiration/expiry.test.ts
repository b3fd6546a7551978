import { describe, expect, test } from "@jest/globals";
import { ClusterUnavailable } from "../../../../../../crds/errors.ts";
import {
  createRefusedDeletions,
  disagreementReporter,
  expire,
  sharedServerClock,
} from "../../../../../../operator/controllers/environment/expiration/expiry.ts";
import type { Slot } from "../../../../../../operator/controllers/environment/expiration/limiter.ts";
import type { Facts, Log } from "../../../../../../operator/kit/log.ts";
import { type OperatorEnvironments, RemovalRefused } from "../../../../../../operator/ports/environments.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import { environmentFixture, minutesLater } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../../support/fixtures/silent-log.ts";

interface Scene {
  readonly own: number;
  readonly server?: number;
  readonly slot?: Slot;
  readonly outcome?: "removing" | "changed" | Error;
  readonly given?: Parameters<typeof environmentFixture>[0];
}

const atOnce: Slot = { state: "go", inMs: 0 };

async function decide({ own, server = own, outcome = "removing", given = {}, slot = atOnce }: Scene) {
  const removals: unknown[] = [];
  let serverCalls = 0;
  const environments: Pick<OperatorEnvironments, "remove"> = {
    async remove({ metadata }, options) {
      removals.push({ version: metadata.resourceVersion, ...options });
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  };
  const serverClock = {
    async now() {
      serverCalls += 1;
      return minutesLater(server);
    },
  };
  const clock = new TestClock(minutesLater(own).toISOString());
  const environment = environmentFixture({ ...given, spec: { ttlHours: 1, ...given.spec } });
  const expiry = await expire(environment, {
    clock,
    serverClock,
    environments,
    log: silentLog,
    limiter: { slotOf: () => slot },
    reportDisagreement: disagreementReporter({ clock, log: silentLog }),
    refusals: createRefusedDeletions(clock),
  });
  return { expiry, removals, serverCalls };
}

describe("an expiry", () => {
  test.each([
    ["not yet", { own: 45 }, { dueInMs: 15 * 60_000 }],
    ["protected", { own: 600, given: { spec: { protected: true } } }, { dueInMs: undefined }],
    ["only by the operator's clock", { own: 61, server: 59 }, { recheckInMs: 60_000 }],
    ["only by the server's clock", { own: 59, server: 61 }, { dueInMs: 60_000 }],
    ["by a server's clock that holds whole seconds", { own: 60, server: 59.99 }, { retryInMs: 200 }],
    ["by a server's clock that is about to say so", { own: 60, server: 59.999 }, { retryInMs: 60 }],
    ["older ones come first", { own: 61, slot: { state: "go", inMs: 400 } }, { retryInMs: 400 }],
    ["too many are due", { own: 61, slot: { state: "blocked" } }, { recheckInMs: 30_000 }],
    ["just lowered", { own: 61, given: { status: { ttlHours: 24 } } }, { dueInMs: 15 * 60_000 }],
  ] as const)("%s: nothing is deleted", async (_what, scene, expected) => {
    const { expiry, removals } = await decide(scene);
    expect(expiry).toEqual(expected);
    expect(removals).toEqual([]);
  });

  test("deletes only the version that was checked", async () => {
    expect(await decide({ own: 60 })).toMatchObject({
      expiry: "deleting",
      removals: [{ version: "1", onlyThisVersion: true }],
    });
  });

  test("has a protection that has ended removed with the deletion", async () => {
    const shield = (minutes: number) => ({ protectedUntil: minutesLater(minutes).toISOString() });
    expect(await decide({ own: 89, given: { spec: shield(90) } })).toMatchObject({ removals: [] });
    expect(
      await decide({ own: 90, given: { spec: shield(90), status: { ttlHours: 1, ...shield(90) } } }),
    ).toMatchObject({
      expiry: "deleting",
      removals: [{ version: "1", onlyThisVersion: true, liftsProtection: true }],
    });
  });

  test("is decided again when the environment changed", async () => {
    expect((await decide({ own: 60, outcome: "changed" })).expiry).toEqual({ retryInMs: 1_000 });
  });

  test("asks the server only when it matters", async () => {
    expect((await decide({ own: 30 })).serverCalls).toBe(0);
    expect((await decide({ own: 60 })).serverCalls).toBe(1);
  });
});

describe("an expiry whose deletion is refused", () => {
  const refusal = "the environment is expired, but its deletion is refused: held by a policy; the operator retries it";

  function refusing() {
    const clock = new TestClock(minutesLater(61).toISOString());
    const refusals = createRefusedDeletions(clock);
    let outcome: "removing" | Error = new RemovalRefused("held by a policy");
    let tries = 0;
    const environments: Pick<OperatorEnvironments, "remove"> = {
      async remove() {
        tries += 1;
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
    };
    const context = {
      clock,
      environments,
      refusals,
      log: silentLog,
      serverClock: { now: async () => clock.now() },
      limiter: { slotOf: () => atOnce },
      reportDisagreement: disagreementReporter({ clock, log: silentLog }),
    };
    const reported = { type: "ExpiryRefused", status: "True", reason: "ExpiryRefused" } as const;
    const at = { message: refusal, lastTransitionTime: minutesLater(61).toISOString() };
    const isReported = () => ({ status: tries === 0 ? {} : { conditions: [{ ...reported, ...at }] } });
    return {
      clock,
      permit() {
        outcome = "removing";
      },
      tries: () => tries,
      look: (hours = 1) => expire(environmentFixture({ spec: { ttlHours: hours }, ...isReported() }), context),
    };
  }

  test("is reported, and retried after pauses that grow from 5 s to 10 min, whatever reconciles come in between", async () => {
    const { clock, look, tries } = refusing();
    for (const [index, seconds] of [5, 10, 20, 40, 80, 160, 320, 600, 600].entries()) {
      expect(await look()).toEqual({ recheckInMs: seconds * 1000, refusal });
      clock.advance(seconds * 1000 - 1);
      expect(await look()).toEqual({ recheckInMs: 1, refusal });
      expect(tries()).toBe(index + 1);
      clock.advance(1);
    }
  });

  test("goes when it is refused no longer, and stays without a word when it is extended", async () => {
    const { clock, look, permit } = refusing();
    await look();
    expect(await look(24)).not.toHaveProperty("refusal");
    clock.advance(5_000);
    permit();
    expect(await look()).toBe("deleting");
  });

  test("fails the reconcile when the API server is unavailable", async () => {
    const away = new ClusterUnavailable(5);
    await expect(decide({ own: 61, outcome: away })).rejects.toBe(away);
  });
});

test("a disagreement of clocks is reported at once, then once an hour with the number of environments that it keeps", () => {
  const clock = new TestClock();
  const reported: (Facts | undefined)[] = [];
  const log: Log = { ...silentLog, warn: (_line, facts) => void reported.push(facts) };
  const tell = disagreementReporter({ clock, log });
  const times = { now: minutesLater(61), serverNow: minutesLater(59) };
  for (let minute = 0; minute <= 60; minute += 1) {
    for (const uid of ["a", "b", "c"]) tell(environmentFixture({ metadata: { name: `env-${uid}`, uid } }), times);
    clock.advance(60_000);
  }
  const clocks = { operatorTime: minutesLater(61).toISOString(), serverTime: minutesLater(59).toISOString() };
  expect(reported).toEqual([
    { environment: "env-a", environments: 1, ...clocks },
    { environment: "env-a", environments: 3, ...clocks },
  ]);
});

describe("the server's clock", () => {
  const scene = () => {
    const clock = new TestClock();
    let requests = 0;
    let failure: Error | undefined;
    const own = {
      async now() {
        requests += 1;
        if (failure) throw failure;
        return minutesLater(10);
      },
    };
    const fail = (error: Error | undefined) => {
      failure = error;
    };
    return { clock, shared: sharedServerClock(own, clock), requests: () => requests, fail };
  };

  test("is asked five times a second for all, and goes on by ours in between", async () => {
    const { clock, shared, requests } = scene();
    await Promise.all([shared.now(), shared.now()]);
    clock.advance(199);
    expect(await shared.now()).toEqual(new Date(minutesLater(10).getTime() + 199));
    expect(requests()).toBe(1);
    clock.advance(1);
    expect(await shared.now()).toEqual(minutesLater(10));
    expect(requests()).toBe(2);
  });

  test("is asked again after it could not be", async () => {
    const { shared, requests, fail } = scene();
    fail(new Error("away"));
    await expect(shared.now()).rejects.toThrow("away");
    fail(undefined);
    expect(await shared.now()).toEqual(minutesLater(10));
    expect(requests()).toBe(2);
  });
});
