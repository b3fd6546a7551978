import { describe, expect, test } from "@jest/globals";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { at, backend, env, overriding, ref, secretOverrides } from "./secret-overrides.ts";

const api = secretOverrides();
const { post, made, violations } = api;

describe("without generated secrets", () => {
  const ungenerated = (variables: object) => ({ ...env(variables), auto_generate_secrets: false });

  test("every one must be given: those that are missing are named", async () => {
    expect(await violations(ungenerated({ STRIPE_KEY: "x" }))).toEqual({
      auto_generate_secrets: "nothing is generated, so config_overrides must give SECRET_KEY, WEB_TOKEN",
    });
  });

  test("a database's password must be given too, and is as secret as those that the Repository lists", async () => {
    const bare = { ...backend, backend_repo: "open-api", auto_generate_secrets: false, provision_database: true };
    expect(await violations(bare)).toEqual({
      auto_generate_secrets: "nothing is generated, so config_overrides must give DATABASE_PASSWORD",
    });
    const given = overriding({ backend: { env: { DATABASE_PASSWORD: "given" } } }, bare);
    expect((await post(given)).status).toBe(200);
    const spec = (await made())?.spec;
    expect(spec?.secrets?.provided).toEqual(["DATABASE_PASSWORD"]);
    expect(JSON.stringify(spec)).not.toContain("given");
  });

  test("text and references will do", async () => {
    const given = ungenerated({ SECRET_KEY: "a", STRIPE_KEY: ref("shared-stripe"), WEB_TOKEN: "b" });
    expect((await post(given)).status).toBe(200);
    expect((await made())?.spec.secrets).toEqual({ autoGenerate: false, provided: ["SECRET_KEY", "WEB_TOKEN"] });
  });

  test("nothing is missing where the Repository lists none", async () => {
    const reply = await post({ ...backend, backend_repo: "open-api", auto_generate_secrets: false });
    expect(reply.status).toBe(200);
    expect((await made())?.spec.secrets).toEqual({ autoGenerate: false });
  });
});

describe("shared API keys", () => {
  const keyed = (config_set: string, more: object = {}) => ({
    ...backend,
    use_shared_api_keys: true,
    config_set,
    ...more,
  });

  test("come with a config set whose keys are shared with the environment", async () => {
    expect((await post(keyed("keys"))).status).toBe(200);
    expect((await made())?.spec.secrets).toEqual({ useSharedApiKeys: true });
  });

  test.each(["", "plain"])("are refused with the config set '%s', which has none", async (config_set) => {
    expect(await violations(keyed(config_set))).toEqual({
      use_shared_api_keys: "needs a config set that has shared API keys",
    });
  });

  test.each([
    { name: "the keys are others'", body: keyed("foreign-keys"), secret: "billing-key" },
    { name: "the environment has no group", body: keyed("keys", { backend_repo: "open-api" }), secret: "shared-mail" },
  ])("are forbidden where $name: 403, and logged", async ({ body, secret }) => {
    const reply = await post(body);
    expectProblem(reply, 403, /no group in common/);
    expectPromised(reply, "post", "/api/environments");
    expect(api.service.environments.list()).toEqual([]);
    expect(api.service.log).toContainEqual(
      expect.objectContaining({
        message: "a reference to a secret was refused",
        facts: expect.objectContaining({ secret, environment: "given" }),
      }),
    );
  });

  test("and the config set's own references count where nothing is generated", async () => {
    const given = { ...keyed("all"), auto_generate_secrets: false };
    expect((await post(given)).status).toBe(200);
  });

  test("don't count for environments that don't ask for them", async () => {
    const given = { ...keyed("all"), use_shared_api_keys: false, auto_generate_secrets: false };
    expect(await violations(given)).toEqual({
      auto_generate_secrets: "nothing is generated, so config_overrides must give STRIPE_KEY",
    });
  });
});

describe("a reference to a secret", () => {
  test.each(["shared-mail", "labelled"])("is taken for %s, which is shared with the environment", async (id) => {
    expect((await post(env({ KEY: ref(id) }))).status).toBe(200);
    expect(api.service.secretManager.looks.filter((look) => look.startsWith("read"))).toEqual([]);
  });

  test.each([
    { name: "another team's", id: "billing-key" },
    { name: "one that other labels carry", id: "unlabelled" },
    { name: "one that is absent", id: "absent" },
    { name: "an id that only begins like a shared one", id: "shared-mail-2" },
    { name: "the platform's own", id: "webhook-secret" },
    { name: "an environment's", id: "other-0a1b2c3d-SECRET_KEY" },
  ])("is refused for $name ($id), alike, and logged, without a value being read", async ({ id }) => {
    expect(await violations(env({ KEY: ref(id) }))).toEqual({
      [at("backend.env.KEY.secretKeyRef.name")]:
        "names no secret that is shared with a group that this environment and you have in common",
    });
    expect(api.service.secretManager.looks.filter((look) => look.startsWith("read"))).toEqual([]);
    expect(api.service.log.filter(({ message }) => message === "a reference to a secret was refused")).toMatchObject([
      {
        facts: { subject: `${api.service.issuer.issuer}#dev`, environment: "given", variable: "KEY", secret: id },
      },
    ]);
  });

  test("is refused where the environment has no group, without any look at the secret", async () => {
    const given = overriding({ backend: { env: { KEY: ref("labelled") } } }, { ...backend, backend_repo: "open-api" });
    expect(Object.keys(await violations(given))).toEqual([at("backend.env.KEY.secretKeyRef.name")]);
    expect(api.service.secretManager.looks).toEqual([]);
  });

  test("can't be judged by labels while the secret manager is away: 503, and nothing is made", async () => {
    api.service.secretManager.setReachable(false);
    const reply = await post(env({ KEY: ref("labelled") }));
    expectProblem(reply, 503, /secret manager/, "ENV_CREATION_FAILED");
    expectPromised(reply, "post", "/api/environments");
    expect(api.service.environments.list()).toEqual([]);
  });
});

describe("when a given secret can't be written", () => {
  test("the environment goes again, and the answer is 503 with when to try again", async () => {
    api.service.secretManager.setReachable(false);
    const reply = await post(env({ SECRET_KEY: "s3cr3t-value" }));
    expectProblem(reply, 503, /secret manager can't be used/, "ENV_CREATION_FAILED");
    expectPromised(reply, "post", "/api/environments");
    expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
    expect((await made())?.metadata.deletionTimestamp).toBeDefined();
    expect(JSON.stringify([reply.body, api.service.log])).not.toContain("s3cr3t-value");
  });
});
