import { describe, expect, test } from "@jest/globals";
import { DAY_MS } from "../../../crds/durations.ts";
import { until } from "../../support/fixtures/until.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { PEOPLE } from "../../support/http/api-service.ts";
import { callsWithToken, minimal } from "./calls-with-token.ts";

const api = callsWithToken();
const { restart, as, person } = api;

describe("a changed owner", () => {
  const created = async (value: string) => (await as(value).post("/api/environments", minimal)).status;

  test("leaving a group removes it from the tokens with the next ID token", async () => {
    const { value } = await api.service.makeToken("developer", { scopes: ["ENV_CREATE"] });
    api.service.clock.advance(1_000);
    const authorization = await person({ groups: ["shop"] });
    await api.service.http.get("/api/auth/user").set({ authorization });
    await until(() => api.service.apiTokens.list()[0]?.spec.assertedClaims.groups.length === 1);
    expect(await created(value)).toBe(403);
    expect((await as(value).get("/api/auth/user")).body.data).toMatchObject({ roles: [], permissions: [] });
  });

  test("an older ID token gives a left group back to no token", async () => {
    const former = await person();
    api.service.clock.advance(1_000);
    const { value } = await api.service.makeToken("developer", {
      scopes: ["ENV_CREATE"],
      assertedClaims: { groups: ["shop"], at: api.service.clock.now().toISOString() },
    });
    await api.service.http.get("/api/auth/user").set("authorization", former);
    expect(await created(value)).toBe(403);
    expect(api.service.apiTokens.writes).not.toContain("storeAssertion");
  });

  test("a promotion reaches the tokens, as far as their scopes go", async () => {
    const { value } = await api.service.makeToken("viewer", { scopes: ["ENV_CREATE"] });
    expect(await created(value)).toBe(403);
    api.service.clock.advance(1_000);
    const groups = [...PEOPLE.viewer.groups, "developers"];
    await api.service.http.get("/api/auth/user").set("authorization", await api.service.bearer("viewer", { groups }));
    await until(() => api.service.apiTokens.list()[0]?.spec.assertedClaims.groups.length === 3);
    expect(await created(value)).toBe(200);
  });

  test("a token whose owner did not sign in for 30 days is refused with the reason, and valid again after a sign-in", async () => {
    const { value } = await api.service.makeToken("developer");
    api.service.clock.advance(30 * DAY_MS);
    const reply = await as(value).get("/api/environments");
    expectProblem(reply, 401, /owner has not signed in for 30 days/);
    expectPromised(reply, "get", "/api/environments");
    await api.service.http.get("/api/auth/user").set("authorization", await person());
    await until(async () => (await as(value).get("/api/environments")).status === 200);
  });

  test("ends after as many days as the settings say", async () => {
    await restart({ api: { tokens: { confirmedDays: 2 } } });
    const { value } = await api.service.makeToken("developer");
    api.service.clock.advance(2 * DAY_MS - 1_000);
    expect((await as(value).get("/api/environments")).status).toBe(200);
    api.service.clock.advance(1_000);
    expectProblem(await as(value).get("/api/environments"), 401, /for 2 days/);
  });

  test("whose issuer is trusted no more has no tokens", async () => {
    const owner = { subject: "https://former.example.test#dev", email: "", name: "" };
    const { value } = await api.service.makeToken("admin", { owner });
    expectProblem(await as(value).get("/api/environments"), 401, "Invalid or expired credentials");
  });

  test("whose roles the settings give no more lose them for the tokens, too", async () => {
    await restart({ issuer: { roles: { admin: ["admins"] } } });
    const { value } = await api.service.makeToken("developer", { scopes: ["ENV_CREATE"] });
    expect(await created(value)).toBe(403);
  });
});
