import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { tokenOf, tokenTraits } from "../../../crds/api-token.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import { callsWithToken } from "./calls-with-token.ts";

const api = callsWithToken();
const { restart, as } = api;

describe("guessing tokens", () => {
  test.each([
    ["too short", "svc_AAAA"],
    ["too long", `svc_${"A".repeat(44)}`],
    ["of 8 kB", `svc_${"A".repeat(8000)}`],
    ["in other letters", `SVC_${"A".repeat(43)}`],
    ["with a sign that is in none", `svc_${"A".repeat(42)}.`],
    ["the prefix alone", "svc_"],
  ])("with one that is %s asks no host", async (_what, guess) => {
    expectProblem(await as(guess).get("/api/environments"), 401, "Invalid or expired credentials");
    expect(api.service.apiTokens.reads).toEqual([]);
  });

  test("is refused without a hint, also for one that differs in its last letter", async () => {
    const { value } = await api.service.makeToken("developer");
    const last = value.endsWith("A") ? "E" : "A";
    for (const guess of [tokenOf(randomBytes(32)), `${value.slice(0, -1)}${last}`]) {
      expectProblem(await as(guess).get("/api/environments"), 401, "Invalid or expired credentials");
    }
  });

  test("is refused when only the id fits: the whole hash decides", async () => {
    const guess = tokenOf(randomBytes(32));
    const { id, tokenHash } = tokenTraits(guess);
    await api.service.makeToken("admin", { tokenHash: `${id}${"0".repeat(tokenHash.length - id.length)}` });
    expect(api.service.apiTokens.known(id)).toBeDefined();
    expectProblem(await as(guess).get("/api/environments"), 401, "Invalid or expired credentials");
  });

  test("spends the budget of the address, and leaves a known token's alone", async () => {
    await restart({ limits: { unauthenticatedPerMinute: 3 } });
    const { value } = await api.service.makeToken("developer");
    const guesses: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      guesses.push((await as(tokenOf(randomBytes(32))).get("/api/environments")).status);
    }
    expect(guesses).toEqual([401, 401, 401, 429, 429]);
    expect(api.service.apiTokens.reads).toHaveLength(3);
    expect((await as(value).get("/api/environments")).status).toBe(200);
  });
});
