import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

const HEAD = "9f2c1d4e8f5a4a399d0b6a1f6c1f7f1011223344";
const OTHER = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";
const minimal = { environment_name: "feature-test", backend_repo: "shop-api", backend_branch: "feature/a+b" };

let service: ApiService;
beforeEach(async () => {
  service = await startApiService();
  service.branchHeads.push("shop-api", "feature/a+b", HEAD);
  service.branchHeads.push("shop-web", "trunk", OTHER);
});
afterEach(() => service.stop());

async function create(body: object, key?: string) {
  const authorization = await service.bearer("developer");
  const headers = { authorization, ...(key === undefined ? {} : { "idempotency-key": key }) };
  const reply = await service.http
    .post("/api/environments")
    .set(headers)
    .send({ ...minimal, ...body });
  expectPromised(reply, "post", "/api/environments");
  return reply;
}

const made = async () => (await service.environments.find("feature-test"))?.spec;

describe("a commit", () => {
  test.each([HEAD.slice(0, 7), HEAD.slice(0, 12).toUpperCase(), HEAD.slice(0, 39)])(
    "%s stands for the head of the branch that it begins",
    async (backend_commit) => {
      expect((await create({ backend_commit })).status).toBe(200);
      expect((await made())?.backend).toEqual({ repository: "shop-api", branch: "feature/a+b", commit: HEAD });
    },
  );

  test("in all its digits, in upper or lower case, is taken without a request to the host", async () => {
    service.branchHeads.setReachable(false);
    const frontend = { frontend_repo: "shop-web", frontend_commit: "F".repeat(64) };
    expect((await create({ backend_commit: OTHER.toUpperCase(), ...frontend })).status).toBe(200);
    expect(await made()).toMatchObject({ backend: { commit: OTHER }, frontend: { commit: "f".repeat(64) } });
    expect(service.branchHeads.requested).toEqual([]);
  });

  test("of the frontend is compared with the head of its own branch", async () => {
    await create({ frontend_repo: "shop-web", frontend_commit: OTHER.slice(0, 7) });
    expect(await made()).toMatchObject({ frontend: { branch: "trunk", commit: OTHER } });
  });

  test.each([
    ["that begins another commit (abuse 108: one that a stranger has put into a pull request)", OTHER.slice(0, 7)],
    ["of a SHA-256 that is not whole", `${HEAD}0`],
  ])("%s is refused, and nothing is made", async (_what, backend_commit) => {
    const reply = await create({ backend_commit });
    expectProblem(reply, 400, /^backend_commit: .*send the full commit SHA/, "ENV_CONFIG_INVALID");
    expect(service.environments.list()).toEqual([]);
  });

  test("of each component is named where neither is the head's", async () => {
    const frontend = { frontend_repo: "shop-web", frontend_branch: "absent", frontend_commit: "abcdef0" };
    const reply = await create({ backend_commit: "abcdef0", ...frontend });
    expectProblem(reply, 400, /backend_commit: .*'feature\/a\+b'.*frontend_commit: .*'absent'/, "ENV_CONFIG_INVALID");
  });

  test("that is short is 503 while the host can't be asked, and nothing is made", async () => {
    service.branchHeads.setReachable(false);
    const reply = await create({ backend_commit: HEAD.slice(0, 7) });
    expectProblem(reply, 503, /host of repository 'shop-api'.*full commit SHA/, "ENV_CREATION_FAILED");
    expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
    expect(service.environments.list()).toEqual([]);
  });

  test.each([
    { backend_repo: "billing-api" },
    { config_set: "absent" },
    { backend_branch: "a..b" },
    { frontend_commit: OTHER.slice(0, 7) },
  ])("asks no host when the request has %j", async (body) => {
    await create({ ...body, backend_commit: "frontend_commit" in body ? HEAD : HEAD.slice(0, 7) });
    expect(service.branchHeads.requested).toEqual([]);
  });
});

describe("a creation with a key and a short commit", () => {
  const backend_commit = HEAD.slice(0, 7);

  test("is answered again when the branch has moved on and the host is away: it is the same request", async () => {
    const first = await create({ backend_commit }, "key-1");
    service.branchHeads.push("shop-api", "feature/a+b", OTHER);
    service.branchHeads.setReachable(false);
    const again = await create({ backend_commit }, "key-1");
    expect(again.body.environment.id).toBe(first.body.environment.id);
    expect((await made())?.backend.commit).toBe(HEAD);
  });

  test("is another request than the one with the full commit", async () => {
    await create({ backend_commit }, "key-1");
    expectProblem(await create({ backend_commit: HEAD }, "key-1"), 409, /Idempotency-Key/);
  });
});
