import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
let authorization: string;
beforeAll(async () => {
  service = await startApiService();
  authorization = await service.bearer("developer");
});
afterEach(() => expect(service.environments.list()).toEqual([]));
afterAll(() => service.stop());

const valid = { environment_name: "fine", backend_repo: "shop-api", backend_branch: "main" };
const post = () => service.http.post("/api/environments").set({ authorization });
const postText = (body: string | Buffer, type = "application/json") => post().set("content-type", type).send(body);

async function expectInvalid(body: object, ...fields: string[]) {
  const reply = await post().send(body);
  expectProblem(reply, 400, undefined, "ENV_CONFIG_INVALID");
  expectPromised(reply, "post", "/api/environments");
  const named = reply.body.detail.split("; ").map((violation: string) => violation.split(":")[0]);
  expect(named.sort()).toEqual(fields.sort());
}

describe("a creation is refused, and nothing is made, when", () => {
  test.each([
    "Upper",
    "under_score",
    "ab",
    "a".repeat(51),
    "1st",
    "-a-",
    "end-",
    "dou--ble",
    "аbc",
    "a\0b",
    "a\nb",
    " abc",
    "www",
    "api",
    "argocd",
    "default",
    "kube-system",
    "ephemeral-x",
    "",
    "a.b",
    "3f0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10",
    "a3f0c2d4-8f5a-4a39-9d0b-6a1f6c1f7f10",
  ])("the name is %j", (environment_name) => expectInvalid({ ...valid, environment_name }, "environment_name"));

  test.each([
    "--upload-pack=x",
    "a..b",
    "@{-1}",
    "x:refs/heads/y",
    "a~1",
    "a^",
    "a?",
    "a*",
    "a[",
    "a\\b",
    "",
    " main",
    "a//b",
    "a@{1}",
    "a\u0000b",
    "a\u202eb",
    "a\u200bb",
    "a\ud83d",
    "é".repeat(123),
    "a.lock",
    "a.",
    "a/",
    "x".repeat(245),
  ])("the branch is %j", (backend_branch) => expectInvalid({ ...valid, backend_branch }, "backend_branch"));

  test.each(["main", "abc", "f".repeat(6), "f".repeat(39), "f".repeat(41), "f".repeat(65), "g".repeat(40)])(
    "the commit is %j",
    (backend_commit) => expectInvalid({ ...valid, backend_commit }, "backend_commit"),
  );

  test.each([0, -1, 24.5, "24", "", true, {}, [24], -1e9])("the TTL is %j", (ttl) =>
    expectInvalid({ ...valid, ttl }, "ttl"),
  );

  test.each([169, 1e9, 1e300])("the TTL is %j, above the maximum", async (ttl) => {
    expectProblem(await post().send({ ...valid, ttl }), 400, /168/, "ENV_TTL_EXCEEDED");
  });

  test.each([
    { repo: "absent", why: "it is not registered" },
    { repo: "shop-web", why: "it is a frontend repository" },
    { repo: "billing-api", why: "it is another team's" },
    { repo: "https://evil.example/x.git", why: "it is a URL" },
    { repo: "file:///etc", why: "it is a file" },
    { repo: "ext::sh -c id", why: "it is a command" },
    { repo: "git@evil:x", why: "it is an address" },
    { repo: "__proto__", why: "it is no name" },
  ])("the backend repository is $repo: $why", async ({ repo }) => {
    const reply = await post().send({ ...valid, backend_repo: repo });
    expectProblem(reply, 400, `backend_repo: no backend repository '${repo}' is registered`, "ENV_REPO_NOT_FOUND");
  });

  test("the frontend repository is a backend one", async () => {
    const reply = await post().send({ ...valid, frontend_repo: "shop-api" });
    expectProblem(reply, 400, /^frontend_repo: no frontend repository 'shop-api'/, "ENV_REPO_NOT_FOUND");
  });

  test.each(["environment_name", "backend_repo", "backend_branch"])("the required field %s is null", (field) =>
    expectInvalid({ ...valid, [field]: null }, field),
  );

  // Abuse case 109: null removes no field of the user's own, and hides no unknown one.
  test.each([
    ["an unknown field", { nonsense: null }, "nonsense"],
    [
      "a variable",
      { config_overrides: { helm_values: { backend: { env: { A: null } } } } },
      "config_overrides.helm_values.backend.env.A",
    ],
    ["an item of a list", { config_overrides: [null] }, "config_overrides"],
  ])("%s is null", (_what, body, field) => expectInvalid({ ...valid, ...body }, field));

  test.each(["id", "creator", "namespace", "status", "expires_at", "Environment_name", "ttl_hours"])(
    "it carries the unknown field %s",
    (field) => expectInvalid({ ...valid, [field]: "x" }, field),
  );

  test("it breaks several rules: all are named together", () =>
    expectInvalid(
      { environment_name: "A_", backend_branch: "a..b", ttl: 169, config_set: 1, nonsense: 1 },
      "environment_name",
      "backend_repo",
      "backend_branch",
      "ttl",
      "config_set",
      "nonsense",
    ));

  test("it breaks several rules: version 2 names each field by itself", async () => {
    const sent = { ...valid, environment_name: "A_", ttl: "soon", nonsense: 1 };
    const reply = await service.http.post("/api/v2/environments").set({ authorization }).send(sent);
    expectProblem(reply, 400, undefined, "ENV_CONFIG_INVALID");
    expectPromised(reply, "post", "/api/v2/environments");
    expect(reply.body.violations).toEqual(
      expect.arrayContaining([
        { field: "environment_name", message: expect.any(String) },
        { field: "ttl", message: "must be an integer" },
        { field: "nonsense", message: "is not a known field" },
      ]),
    );
    expect(reply.body.violations).toHaveLength(3);
  });

  test.each(["null", "[]", '"text"', "1", "true"])("the body is %s", async (body) => {
    expectProblem(await postText(body), 400, "body: must be an object", "ENV_CONFIG_INVALID");
  });

  test("there is no body", async () => {
    expectProblem(await post(), 400, /environment_name: is required/, "ENV_CONFIG_INVALID");
  });
});

test("version 2 names the wrong parameter of an address", async () => {
  const reply = await service.http.get("/api/v2/environments?limit=0&status=odd").set({ authorization });
  expectProblem(reply, 400);
  const fields = reply.body.violations.map(({ field }: { field: string }) => field);
  expect(fields.sort()).toEqual(["limit", "status"]);
});
