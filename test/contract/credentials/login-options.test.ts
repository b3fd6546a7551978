import { afterEach, expect, test } from "@jest/globals";
import { type ApiService, type ServiceOptions, startApiService } from "../../support/http/api-service.ts";

const PATH = "/api/v2/auth/login-options";

let service: ApiService;
afterEach(() => service.stop());

async function optionsWith(options: ServiceOptions = {}) {
  service = await startApiService(options);
  const { status, body } = await service.http.get(PATH);
  expect(status).toBe(200);
  return body.data;
}

test("programs see no issuer whose settings lack their log-in", async () => {
  expect(await optionsWith()).toEqual({ issuers: [], console_url: null });
  expect((await service.http.get("/api/auth/login-options")).status).toBe(404);
});

test("programs see each issuer of their log-in, and nothing else of it", async () => {
  const other = {
    issuer: "https://login.example.test",
    groupsPrefix: "other:",
    audience: ["web", "cli"],
    commandLine: { clientId: "cli", flows: ["device"], scopes: ["openid", "groups"] },
  };
  const { issuers } = await optionsWith({
    issuer: { groupsPrefix: "own:", commandLine: { clientId: "ephemeral" } },
    issuers: [other, { issuer: "https://ci.example.test", audience: "ci", groupsPrefix: "ci:" }],
  });
  const scopes = ["openid", "email", "profile", "offline_access"];
  expect(issuers).toEqual([
    { issuer: service.issuer.issuer, client_id: "ephemeral", flows: ["loopback"], scopes },
    { issuer: other.issuer, client_id: "cli", flows: ["device"], scopes: ["openid", "groups"] },
  ]);
});
