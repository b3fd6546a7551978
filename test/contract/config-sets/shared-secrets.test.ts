import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { configSetFixture } from "../../support/fixtures/environment/environment-fixture.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

const pay = { name: "PAY", secretRef: { name: "billing-key", key: "latest" } };
const mail = { name: "MAIL", secretRef: { name: "mail", key: "latest" } };

let service: ApiService;
/** A Repository of two teams, whose environments are shared with both; `shop-api` belongs to one team. */
beforeEach(async () => {
  service = await startApiService({
    repositories: [
      aRepository("shared-api", { access: { groups: ["shop", "billing", "maintainers"] }, secrets: [] }),
      aRepository("shop-api", { access: { groups: ["shop"] }, secrets: [] }),
      aRepository("web", { type: "frontend", secrets: [] }),
    ],
    configSets: [
      configSetFixture("with-pay", { env: [pay] }),
      configSetFixture("with-pay-in-values", { helmValues: { frontend: { env: [pay] } } }),
      configSetFixture("with-pay-replaced", {
        env: [pay],
        helmValues: { backend: { env: [{ name: "PAY", value: "" }] } },
      }),
      configSetFixture("with-mail", { env: [mail] }),
      configSetFixture("keys", { sharedApiKeys: [pay] }),
      configSetFixture("billing-keys", { sharedApiKeys: [mail], access: { groups: ["billing", "developers"] } }),
    ],
    settings: {
      secrets: {
        shared: [
          { ids: ["billing-key"], groups: ["billing"] },
          { labels: { share: "billing" }, groups: ["billing"] },
          { ids: ["mail"], groups: ["shop", "billing"] },
        ],
      },
    },
  });
  service.secretManager.share({ id: "labelled", labels: { share: "billing" }, values: ["x"] });
});
afterEach(() => service.stop());

const given = { environment_name: "given", backend_repo: "shared-api", backend_branch: "main" };
const referring = (name: string) => ({
  config_overrides: { helm_values: { backend: { env: { KEY: { secretKeyRef: { name, key: "latest" } } } } } },
});

async function create(as: Person, body: object) {
  const authorization = await service.bearer(as);
  const reply = await service.http
    .post("/api/environments")
    .set({ authorization })
    .send({ ...given, ...body });
  expectPromised(reply, "post", "/api/environments");
  return reply;
}

// Abuse case 102: two teams share a Repository, and one requests a secret shared with the other alone.
describe("in an environment that two teams share, a shared secret of one team", () => {
  test.each(["billing-key", "labelled"])("is referred to by its members: %s", async (id) => {
    expect((await create("stranger", referring(id))).status).toBe(200);
  });

  test.each<[Person, string]>([
    ["developer", "billing-key"],
    ["developer", "labelled"],
    ["maintainer", "billing-key"],
    ["maintainer", "mail"],
  ])("is refused to a %s who is no member, and logged: %s", async (as, id) => {
    const reply = await create(as, referring(id));
    expectProblem(
      reply,
      400,
      /KEY\.secretKeyRef\.name: names no secret that is shared with a group that/,
      "ENV_CONFIG_INVALID",
    );
    expect(service.environments.list()).toEqual([]);
    expect(service.secretManager.looks).toEqual([]);
    const facts = expect.objectContaining({ environment: "given", variable: "KEY", secret: id });
    expect(service.log).toContainEqual(
      expect.objectContaining({ message: "a reference to a secret was refused", facts }),
    );
  });

  test("is refused to its own member where the environment is another team's alone", async () => {
    const both = { authorization: await service.bearer("developer", { groups: ["developers", "shop", "billing"] }) };
    const body = { ...given, backend_repo: "shop-api", ...referring("billing-key") };
    expectProblem(
      await service.http.post("/api/environments").set(both).send(body),
      400,
      /names no secret/,
      "ENV_CONFIG_INVALID",
    );
  });

  test("comes with a config set for members of its groups, and for no other caller", async () => {
    expect((await create("stranger", { config_set: "with-pay" })).status).toBe(200);
    const reply = await create("developer", { environment_name: "other", config_set: "with-pay" });
    expectProblem(
      reply,
      400,
      /^config_set: config set 'with-pay' reads PAY from secrets that are not shared/,
      "ENV_CONFIG_INVALID",
    );
  });

  test("is refused in a config set's values for a component that the environment has", async () => {
    expect((await create("developer", { config_set: "with-pay-in-values" })).status).toBe(200);
    const body = { environment_name: "other", config_set: "with-pay-in-values", frontend_repo: "web" };
    expectProblem(await create("developer", body), 400, /^config_set: /, "ENV_CONFIG_INVALID");
  });

  test.each([
    ["the config set's own values", { config_set: "with-pay-replaced" }],
    [
      "an override",
      { config_set: "with-pay", config_overrides: { helm_values: { backend: { env: { PAY: "none" } } } } },
    ],
  ])("is not read where %s come before it", async (_what, body) => {
    expect((await create("developer", body)).status).toBe(200);
  });

  test("is among the shared API keys for its members, and 403 for others", async () => {
    expect((await create("stranger", { config_set: "keys", use_shared_api_keys: true })).status).toBe(200);
    const body = { environment_name: "other", config_set: "keys", use_shared_api_keys: true };
    expectProblem(await create("developer", body), 403, /no group in common/);
  });

  test("does not affect callers who use neither", async () => {
    expect((await create("developer", { config_set: "with-mail" })).status).toBe(200);
    expect((await create("developer", { environment_name: "other", config_set: "keys" })).status).toBe(200);
  });
});

test("shared API keys need a group that maker, environment and config set have in common", async () => {
  const body = { config_set: "billing-keys", use_shared_api_keys: true };
  expect((await create("stranger", body)).status).toBe(200);
  expectProblem(await create("developer", { ...body, environment_name: "other" }), 403, /no group in common/);
});
