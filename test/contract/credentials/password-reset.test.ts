import { afterEach, describe, expect, test } from "@jest/globals";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type ServiceOptions, startApiService } from "../../support/http/api-service.ts";

const PATH = "/api/auth/password-reset";

let service: ApiService;
afterEach(() => service.stop());
async function started(options: ServiceOptions = {}): Promise<ApiService> {
  service = await startApiService(options);
  return service;
}

describe("asking for a new password", () => {
  test.each([PATH, "/api/v2/auth/password-reset"])(
    "is answered alike with an account and without one: %s",
    async (path) => {
      const { http, identityProvider, clock } = await started();
      const known = await http.post(path).send({ email: "dev@example.test" });
      const unknown = await http.post(path).send({ email: "nobody-here@example.test" });
      expectPromised(known, "post", path);
      expect(known.status).toBe(200);
      expect(known.body).toEqual({
        status: "success",
        data: { message: "If there is such an account, a link is on its way to it" },
        timestamp: clock.now().toISOString(),
      });
      expect([unknown.status, unknown.body]).toEqual([known.status, known.body]);
      expect(identityProvider.sentTo).toEqual(["dev@example.test"]);
    },
  );

  test("is answered whether the provider is there or not", async () => {
    const { http, identityProvider } = await started();
    identityProvider.away = true;
    expect((await http.post(PATH).send({ email: "dev@example.test" })).status).toBe(200);
  });

  test("is answered before the provider is, and if that never answers", async () => {
    const { http, identityProvider } = await started();
    const requested: string[] = [];
    identityProvider.sendPasswordReset = (email) => {
      requested.push(email);
      return new Promise(() => undefined);
    };
    expect((await http.post(PATH).send({ email: "dev@example.test" })).status).toBe(200);
    expect(requested).toEqual(["dev@example.test"]);
  });

  test("sends an address no more than its share, and says nothing of it", async () => {
    const { http, identityProvider } = await started({
      limits: { passwordResetsPerHour: 5 },
      api: { trustedProxyHops: 1 },
    });
    const answers = [];
    for (let count = 0; count < 7; count += 1) {
      const from = { "x-forwarded-for": `192.0.2.${count}` };
      answers.push(await http.post(PATH).set(from).send({ email: "dev@example.test" }));
    }
    const bodies = new Set(answers.map(({ status, body }) => JSON.stringify([status, body])));
    expect(bodies.size).toBe(1);
    expect(identityProvider.sentTo).toHaveLength(5);
  });

  test("is refused to a client address that asks for many", async () => {
    const { http, bearer } = await started({ limits: { passwordResetsPerHour: 2 } });
    const ask = (email: string) => http.post(PATH).send({ email });
    expect([(await ask("a@example.test")).status, (await ask("b@example.test")).status]).toEqual([200, 200]);
    const over = await ask("c@example.test");
    expectProblem(over, 429, "Too many requests");
    expectPromised(over, "post", PATH);
    expect(Number(over.headers["retry-after"])).toBeGreaterThan(60);
    const known = await ask("d@example.test").set("authorization", await bearer("developer"));
    expect(known.status).toBe(429);
  });

  test("is unavailable without an identity provider", async () => {
    const { http } = await started({ withoutIdentityProvider: true });
    const reply = await http.post(PATH).send({ email: "dev@example.test" });
    expectProblem(reply, 503, "No identity provider that resets passwords is set up");
    expectPromised(reply, "post", PATH);
  });

  test.each([
    ["no address", {}],
    ["half an address", { email: "dev@" }],
    ["two addresses", { email: "dev@example.test,evil@example.test" }],
    ["a header's end", { email: "dev@example.test\r\nBcc: evil@example.test" }],
    ["an unknown field", { email: "dev@example.test", continue_url: "https://evil.example.test" }],
    ["a list", { email: ["dev@example.test"] }],
  ])("is refused with %s", async (_what, body) => {
    const { http, identityProvider } = await started();
    const reply = await http.post(PATH).send(body);
    expectProblem(reply, 400, undefined, "ENV_CONFIG_INVALID");
    expect(identityProvider.sentTo).toEqual([]);
  });
});
