import { afterEach, describe, expect, test } from "@jest/globals";
import { expectProblem } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
afterEach(() => service.stop());
async function limited(unauthenticatedPerMinute: number, more: { documentationPerMinute?: number } = {}) {
  service = await startApiService({ limits: { unauthenticatedPerMinute, authenticatedPerMinute: 3, ...more } });
  return service;
}

const UNROUTED = [
  ["a path that is not there", (http: ApiService["http"]) => http.get("/nowhere"), 404],
  ["a path below that of a route", (http: ApiService["http"]) => http.get("/api/v2/health/x"), 404],
  ["another method", (http: ApiService["http"]) => http.patch("/api/environments"), 405],
  ["another method of what is never limited", (http: ApiService["http"]) => http.post("/api/health"), 405],
  ["a path that can't be decoded", (http: ApiService["http"]) => http.get("/api/environments/%zz"), 400],
] as const;

describe("requests that no route answers (abuse 113)", () => {
  test.each(UNROUTED)("spends the budget of its address: %s", async (_case, call, status) => {
    const { http } = await limited(2);
    for (const remaining of ["1", "0"]) {
      const reply = await call(http);
      expectProblem(reply, status);
      expect(reply.headers).toMatchObject({ "x-ratelimit-limit": "2", "x-ratelimit-remaining": remaining });
      expect(Number(reply.headers["x-ratelimit-reset"])).toBeGreaterThan(Date.now() / 1000 - 1);
    }
    const over = await call(http);
    expectProblem(over, 429);
    expect(Number(over.headers["retry-after"])).toBeGreaterThan(0);
    expect((await http.get("/api/environments")).status).toBe(429);
    expect((await http.get("/api/health")).status).toBe(200);
  });

  test.each(UNROUTED)("spends a known caller's own budget: %s", async (_case, call, status) => {
    const { http, bearer } = await limited(1);
    const authorization = await bearer("developer");
    const seen = [];
    for (let count = 0; count < 4; count += 1) seen.push((await call(http).set({ authorization })).status);
    expect(seen).toEqual([status, status, status, 429]);
    expect((await http.get("/api/environments")).status).toBe(401);
  });

  test("spends the documentation's budget below its paths", async () => {
    const { http } = await limited(1, { documentationPerMinute: 2 });
    const replies = [await http.post("/docs"), await http.delete("/openapi.json"), await http.put("/redoc")];
    expect(replies.map(({ status }) => status)).toEqual([405, 405, 429]);
    expect(replies[0]?.headers).toMatchObject({ "x-ratelimit-limit": "2", allow: "GET, HEAD" });
  });

  test("does not reveal whether a guessed credential is valid without a record of the guess", async () => {
    const { http, audit } = await limited(2);
    const guess = () => http.get("/nowhere").set("authorization", "Bearer svc_guess");
    for (const status of [404, 404, 429, 429]) expect((await guess()).status).toBe(status);
    expect(audit.records.map(({ event, outcome, status }) => [event, outcome, status])).toEqual([
      ["credential", "refused", 404],
      ["credential", "refused", 404],
      ["credential", "refused", 429],
    ]);
  });
});
