import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { until } from "../../support/fixtures/until.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from "../../support/http/token-issuer.ts";

const WHO = "/api/auth/user";
const LIST = "/api/environments";
const ASSERTED_AT = "2026-06-01T12:00:00.000Z";
const tenant = { hd: "corp.example" };

let service: ApiService;
let partner: TokenIssuer;
beforeEach(async () => {
  partner = await startTokenIssuer(() => service.clock.now());
  service = await startApiService({
    issuer: { groupsPrefix: "ours:", roles: { admin: ["ours:admins"] } },
    issuers: [
      {
        issuer: partner.issuer,
        audience: AUDIENCE,
        groupsPrefix: "partner:",
        requiredClaims: { hd: [tenant.hd] },
        defaultRole: "developer",
      },
    ],
  });
});
afterEach(async () => {
  await service.stop();
  await partner.stop();
});

async function get(path: string, bearer: string) {
  const reply = await service.http.get(path).set({ authorization: `Bearer ${bearer}` });
  expectPromised(reply, "get", path);
  return reply;
}

// Abuse case 104.
describe("an ID token alone", () => {
  test("works where its issuer has a default role, in a tenant that the settings name", async () => {
    const token = await partner.sign({ sub: "p", ...tenant });
    expect((await get(WHO, token)).body.data).toMatchObject({ roles: ["developer"], groups: [] });
    expect((await get(LIST, token)).status).toBe(200);
  });

  test.each([{}, { hd: "evil.example" }])(
    "is refused with the claims %j, and says which is required",
    async (claims) => {
      const token = await partner.sign({ sub: "p", ...claims });
      expectProblem(await get(LIST, token), 401, /claim 'hd' has no value that is accepted here/);
    },
  );

  test("gives no role where its issuer has no default one", async () => {
    const reply = await get(LIST, await service.issuer.sign({ sub: "s", ...tenant }));
    expectProblem(reply, 403);
  });
});

// Abuse case 105: two issuers with a group of the same name.
describe("a group", () => {
  test("gives the users of another issuer neither its role nor its resources", async () => {
    const claims = { sub: "s", groups: ["admins", "ours:admins", "shop"], ...tenant };
    expect((await get(WHO, await service.issuer.sign(claims))).body.data).toMatchObject({
      roles: ["admin"],
      groups: ["ours:admins", "ours:ours:admins", "ours:shop"],
    });
    expect((await get(WHO, await partner.sign(claims))).body.data).toMatchObject({
      roles: ["developer"],
      groups: ["partner:admins", "partner:ours:admins", "partner:shop"],
    });
  });
});

test("an API token has its owner's roles by the owner's issuer", async () => {
  const ownedBy = ({ issuer }: TokenIssuer, groups: string[]) => ({
    owner: { subject: `${issuer}#s`, email: "", name: "" },
    assertedClaims: { groups, claims: tenant, at: ASSERTED_AT },
  });
  const roles = async (owned: object) => (await get(WHO, (await service.makeToken("outsider", owned)).value)).body.data;
  expect(await roles(ownedBy(partner, ["ours:admins"]))).toMatchObject({ roles: ["developer"] });
  expect(await roles(ownedBy(service.issuer, ["ours:admins"]))).toMatchObject({ roles: ["admin"] });
  expect(await roles(ownedBy(service.issuer, []))).toMatchObject({ roles: [] });
});

// Abuse case 104, for a person whom former settings admitted.
test.each([{}, { hd: "former.example" }])(
  "an API token whose owner has the claims %j is good only when the owner comes with the required one",
  async (claims) => {
    const owner = { subject: `${partner.issuer}#p`, email: "", name: "" };
    const { value } = await service.makeToken("outsider", {
      owner,
      assertedClaims: { groups: [], claims, at: ASSERTED_AT },
    });
    expectProblem(await get(LIST, value), 401, /claim 'hd'; the next request with an ID token/);
    service.clock.advance(1_000);
    await get(LIST, await partner.sign({ sub: "p", ...tenant }));
    await until(async () => (await get(LIST, value)).status === 200);
  },
);
