import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import type { ErrorCode } from "../../../crds/errors.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

const HEAD = "9f2c1d4e8f5a4a399d0b6a1f6c1f7f1011223344";
const OTHER = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";
const PATH = "/api/v2/environments/shop-test";

let service: ApiService;
beforeEach(async () => {
  service = await startApiService();
  service.branchHeads.push("shop-api", "main", HEAD);
  service.branchHeads.push("shop-api", "feature/cart", OTHER);
  service.branchHeads.push("shop-web", "feature/cart", HEAD);
});
afterEach(() => service.stop());

const onMain: EnvironmentSpec = {
  backend: { repository: "shop-api", branch: "main", commit: "c".repeat(40) },
  access: { groups: ["shop"] },
  ttlHours: 24,
};
const make = (spec: Partial<EnvironmentSpec> = {}) => service.environments.create("shop-test", { ...onMain, ...spec });

async function move(body: object, as: Person = "developer") {
  const reply = await service.http
    .patch(PATH)
    .set("authorization", await service.bearer(as))
    .send(body);
  expectPromised(reply, "patch", "/api/v2/environments/{environment_id}");
  return reply;
}

const spec = async () => (await service.environments.find("shop-test"))?.spec;

interface Refusal {
  readonly status: number;
  readonly code?: ErrorCode;
  readonly words: RegExp | string;
  readonly as?: Person;
}
const invalid = (words: RegExp): Refusal => ({ status: 400, code: "ENV_CONFIG_INVALID", words });

async function expectRefused(body: object, { status, code, words, as }: Refusal) {
  const before = await service.environments.find("shop-test");
  const reply = await move(body, as);
  expectProblem(reply, status, words, code);
  expect(await service.environments.find("shop-test")).toEqual(before);
  return reply;
}

describe("a move to another source", () => {
  test.each([
    ["a branch: to its head, away from the former commit", { backend_branch: "feature/cart" }, "feature/cart", OTHER],
    ["an empty commit: to the head of its branch as it is now", { backend_commit: "" }, "main", HEAD],
    [
      "a branch and the beginning of its head",
      { backend_branch: "feature/cart", backend_commit: OTHER.slice(0, 7) },
      "feature/cart",
      OTHER,
    ],
    ["a commit alone: the branch stays", { backend_commit: "D".repeat(40) }, "main", "d".repeat(40)],
  ])("takes %s", async (_what, body, branch, commit) => {
    await make();
    expect((await move(body)).body.data).toMatchObject({ observed: false, repositories: { backend: { branch } } });
    expect(await spec()).toEqual({ ...onMain, backend: { repository: "shop-api", branch, commit } });
  });

  test("takes both components, and switches with them", async () => {
    await make({ frontend: { repository: "shop-web", branch: "trunk" } });
    const body = { backend_branch: "feature/cart", frontend_branch: "feature/cart", protected: true };
    expect((await move(body)).status).toBe(200);
    expect(await spec()).toMatchObject({
      backend: { branch: "feature/cart", commit: OTHER },
      frontend: { branch: "feature/cart", commit: HEAD },
      protectedUntil: expect.any(String),
    });
  });

  test("leaves what follows its branch following, on the other branch", async () => {
    await make({ backend: { repository: "shop-api", branch: "main", follow: true } });
    await move({ backend_branch: "feature/cart" });
    expect((await spec())?.backend).toEqual({ repository: "shop-api", branch: "feature/cart", follow: true });
  });

  test("is recorded like every change", async () => {
    const { metadata } = await make();
    await move({ backend_branch: "feature/cart" });
    await move({ backend_branch: "absent" });
    const object = [{ name: "shop-test", uid: metadata.uid }];
    const records = service.audit.records.map(({ action, outcome, objects }) => ({ action, outcome, objects }));
    expect(records).toEqual([
      { action: "updateEnvironment", outcome: "accepted", objects: object },
      { action: "updateEnvironment", outcome: "refused", objects: object },
    ]);
  });

  test.each([
    [
      "a branch that is not there",
      { backend_branch: "absent" },
      "backend_branch",
      "repository 'shop-api' has no branch 'absent'",
    ],
    ["a name that git takes for no branch", { backend_branch: "a..b" }, "backend_branch", expect.any(String)],
    [
      "a short commit that is not the head's",
      { backend_commit: OTHER.slice(0, 7) },
      "backend_commit",
      expect.stringContaining("send the full commit SHA"),
    ],
    [
      "a frontend where there is none",
      { frontend_branch: "main" },
      "frontend_branch",
      "the environment has no frontend",
    ],
    [
      "a config set where there is none",
      { config_set_version: "current" },
      "config_set_version",
      "the environment has no config set",
    ],
    ["a version that is none", { config_set_version: "newest" }, "config_set_version", expect.any(String)],
  ])("names %s", async (_what, body, field, message) => {
    await make();
    const reply = await expectRefused(body, invalid(new RegExp(`^${field}: `)));
    expect(reply.body).toMatchObject({ error_code: "ENV_CONFIG_INVALID", violations: [{ field, message }] });
  });

  test("names everything that is wrong at once", async () => {
    await make();
    const reply = await expectRefused(
      { backend_branch: "absent", frontend_commit: HEAD, config_set_version: 1 },
      invalid(/no branch.*no frontend.*no config set/),
    );
    const fields = reply.body.violations.map(({ field }: { field: string }) => field);
    expect(fields).toEqual(["backend_branch", "frontend_commit", "config_set_version"]);
  });

  test("is 409 for a pull request's environment, which may still be suspended", async () => {
    await make({ trigger: { kind: "pull_request", repository: "shop-api", number: 42 } });
    await expectRefused(
      { backend_branch: "feature/cart", suspended: true },
      { status: 409, words: /pull request #42 of 'shop-api'/ },
    );
    await expectRefused({ config_set_version: "current" }, { status: 409, words: /pull request #42/ });
    expect(service.branchHeads.requested).toEqual([]);
    expect((await move({ suspended: true })).status).toBe(200);
  });

  test("is 409 while the environment is being deleted, and no host is asked", async () => {
    await service.environments.remove(await make());
    await expectRefused({ backend_branch: "feature/cart" }, { status: 409, words: "The environment is being deleted" });
    expect(service.branchHeads.requested).toEqual([]);
  });

  test("is refused to who may not create environments of the Repository", async () => {
    await make({ access: { groups: ["shop", "billing"] } });
    await expectRefused(
      { backend_commit: HEAD },
      { status: 400, code: "ENV_REPO_NOT_FOUND", words: /no backend repository 'shop-api'/, as: "stranger" },
    );
  });

  test("is 503 while the host can't be asked; a full commit needs no host", async () => {
    await make();
    service.branchHeads.setReachable(false);
    await expectRefused(
      { backend_branch: "feature/cart" },
      { status: 503, code: "ENV_CREATION_FAILED", words: /host of repository 'shop-api'/ },
    );
    expect((await move({ backend_commit: HEAD })).status).toBe(200);
  });
});

describe("a move to a version of the config set", () => {
  const configured: Partial<EnvironmentSpec> = { configSet: { name: "web", version: 1 } };

  /** A config set of the group `shop`, in its second version. */
  async function inSecondVersion(changed: Partial<ConfigSetSpec>): Promise<void> {
    const access = { groups: ["shop"] };
    const made = await service.configSets.create("web", { access }, "dev@example.test");
    if (made === "taken") throw new Error("there is a config set of that name");
    await service.configSets.replace(made, { access, ...changed });
  }

  test.each(["current", 2])("takes %j: the version of now, and no later one by itself", async (config_set_version) => {
    await inSecondVersion({ env: [{ name: "LEVEL", value: "debug" }] });
    await make(configured);
    expect((await move({ config_set_version })).status).toBe(200);
    expect(await spec()).toEqual({ ...onMain, configSet: { name: "web", version: 2 } });
  });

  test.each([1, 3])("refuses %i, which is not the current one", async (config_set_version) => {
    await inSecondVersion({ env: [{ name: "LEVEL", value: "debug" }] });
    await make(configured);
    await expectRefused({ config_set_version }, invalid(/is not the current version of config set 'web', which is 2/));
  });

  test.each([
    ["that is for production by now", { production: true }, /no config set 'web' is registered/],
    ["that is shared with others by now", { access: { groups: ["billing"] } }, /no config set 'web' is registered/],
    [
      "that reads a secret that is not shared",
      { env: [{ name: "KEY", secretRef: { name: "theirs", key: "latest" } }] },
      /config set 'web' reads KEY/,
    ],
  ])("refuses one %s", async (_what, changed, words) => {
    await inSecondVersion(changed);
    await make(configured);
    await expectRefused({ config_set_version: "current" }, invalid(words));
  });

  test("is 403 where the environment has its shared API keys, and they are shared with others", async () => {
    await inSecondVersion({ sharedApiKeys: [{ name: "STRIPE_KEY", secretRef: { name: "theirs", key: "latest" } }] });
    await make({ ...configured, secrets: { useSharedApiKeys: true } });
    await expectRefused({ config_set_version: "current" }, { status: 403, words: /share the API keys/ });
  });
});
