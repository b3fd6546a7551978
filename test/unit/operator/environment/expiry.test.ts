import { describe, expect, test } from "@jest/globals";
import { expire } from "../../../../operator/environment/expiry.ts";
import { silentLog } from "../../../../operator/kit/log.ts";
import type { Environments } from "../../../../operator/ports/environments.ts";
import { environmentFixture, minutesLater } from "../../../support/environment-fixture.ts";
import { TestClock } from "../../../support/test-clock.ts";

interface Scene {
  readonly own: number;
  readonly server?: number;
  readonly outcome?: "removing" | "changed";
  readonly given?: Parameters<typeof environmentFixture>[0];
}

async function decide({ own, server = own, outcome = "removing", given = {} }: Scene) {
  const removals: unknown[] = [];
  let serverAsked = 0;
  const environments = {
    async remove(environment: { metadata: { resourceVersion: string } }, options?: object) {
      removals.push({ version: environment.metadata.resourceVersion, ...options });
      return outcome;
    },
  } as unknown as Environments;
  const serverClock = {
    async now() {
      serverAsked += 1;
      return minutesLater(server);
    },
  };
  const clock = new TestClock(minutesLater(own).toISOString());
  const environment = environmentFixture({ ...given, spec: { ttlHours: 1, ...given.spec } });
  const expiry = await expire(environment, { clock, serverClock, environments, log: silentLog });
  return { expiry, removals, serverAsked };
}

describe("an expiry", () => {
  test.each([
    ["not yet", { own: 45 }, { lookAgainInMs: 15 * 60_000 }],
    ["protected", { own: 600, given: { spec: { protected: true } } }, { lookAgainInMs: undefined }],
    ["only by the operator's clock", { own: 61, server: 59 }, { lookAgainInMs: 60_000 }],
    ["only by the server's clock", { own: 59, server: 61 }, { lookAgainInMs: 60_000 }],
    ["just lowered", { own: 61, given: { status: { ttlHours: 24 } } }, { lookAgainInMs: undefined }],
  ] as const)("%s: nothing is deleted", async (_what, scene, expected) => {
    const { expiry, removals } = await decide(scene);
    expect(expiry).toEqual(expected);
    expect(removals).toEqual([]);
  });

  test("deletes only the version that was judged", async () => {
    expect(await decide({ own: 60 })).toMatchObject({
      expiry: "removing",
      removals: [{ version: "1", onlyThisVersion: true }],
    });
  });

  test("is decided again when the environment changed", async () => {
    expect((await decide({ own: 60, outcome: "changed" })).expiry).toBe("decide-again");
  });

  test("asks the server only when it matters", async () => {
    expect((await decide({ own: 30 })).serverAsked).toBe(0);
    expect((await decide({ own: 60 })).serverAsked).toBe(1);
  });
});
