import { describe, expect, test } from "@jest/globals";
import { expectPromised } from "../../support/http/api-promises.ts";
import { both, env, overriding, ref, secretOverrides } from "./secret-overrides.ts";

const api = secretOverrides();
const { post, made } = api;

async function kept(...variables: string[]): Promise<Record<string, string>> {
  const owner = (await made())?.metadata ?? { name: "", uid: "" };
  const stored = await api.service.secretManager.ensure(
    owner,
    variables.map((name) => ({ name, version: 1 })),
  );
  return Object.fromEntries([...stored].map(([name, { value }]) => [name, value.reveal()]));
}

describe("overrides of a creation", () => {
  test("stand in the resource as the chart's, and secrets in the secret manager alone", async () => {
    const secret = "sk_live_5up3r$ecret";
    const odd = "x\nsecurityContext: {privileged: true} {{ .Values }} $ARGOCD_APP_NAME";
    const reply = await post(
      overriding({
        backend: {
          env: { LOG_LEVEL: "debug", ODD: odd, STRIPE_KEY: secret, MAIL_KEY: ref("shared-mail", "3") },
          replicas: 2,
          resources: { requests: { cpu: "100m" }, limits: { memory: "256Mi" } },
          cache: { size: 5, on: false },
        },
        frontend: { env: { THEME: "dark" }, theme: "dark" },
      }),
    );
    expectPromised(reply, "post", "/api/environments");
    expect(reply.status).toBe(200);
    const environment = await made();
    expect(environment?.spec).toMatchObject({
      secrets: { provided: ["STRIPE_KEY"] },
      overrides: {
        backend: {
          env: [
            { name: "LOG_LEVEL", value: "debug" },
            { name: "ODD", value: odd },
            { name: "MAIL_KEY", secretRef: { name: "shared-mail", key: "3" } },
          ],
          replicas: 2,
          resources: { requests: { cpu: "100m" }, limits: { memory: "256Mi" } },
        },
        frontend: { env: [{ name: "THEME", value: "dark" }] },
        values: [
          { path: "backend.cache.size", value: "5" },
          { path: "backend.cache.on", value: "false" },
          { path: "frontend.theme", value: '"dark"' },
        ],
      },
    });
    expect(await kept("STRIPE_KEY", "SECRET_KEY")).toEqual({ STRIPE_KEY: secret });
    expect(JSON.stringify([environment, reply.body, api.service.log])).not.toContain(secret);
  });

  test("may be 500 variables, with dots and dashes in their names, and long ones", async () => {
    const variables = Object.fromEntries(Array.from({ length: 498 }, (_, at) => [`V${at}`, "x".repeat(300)]));
    const long = "y".repeat(32_768);
    const reply = await post(env({ ...variables, "discovery.type": "single-node", "app-key_2.x": long }));
    expect(reply.status).toBe(200);
    const kept = (await made())?.spec.overrides?.backend?.env ?? [];
    expect(kept).toHaveLength(500);
    expect(kept).toEqual(
      expect.arrayContaining([
        { name: "discovery.type", value: "single-node" },
        { name: "app-key_2.x", value: long },
      ]),
    );
  });

  test("may name a version by its number", async () => {
    const shared = { name: "mail-set", env: [{ name: "A", secret_ref: { name: "shared-mail", key: 2 } }] };
    const maintainer = await api.service.bearer("maintainer", { groups: ["maintainers", "mail"] });
    const set = await api.service.http.post("/api/config-sets").set({ authorization: maintainer }).send(shared);
    expect(set.body.data.env).toEqual([{ name: "A", secret_ref: { name: "shared-mail", key: "2" } }]);
    expect((await post(env({ MAIL_KEY: ref("shared-mail", 3) }))).status).toBe(200);
    const variable = { name: "MAIL_KEY", secretRef: { name: "shared-mail", key: "3" } };
    expect((await made())?.spec.overrides?.backend?.env).toEqual([variable]);
  });

  test("come in a form as JSON text", async () => {
    const { config_overrides, ...fields } = env({ LOG_LEVEL: "debug", SECRET_KEY: "form-secret" });
    const form = { ...fields, config_overrides: JSON.stringify(config_overrides) };
    const reply = await api.service.http
      .post("/api/environments")
      .set({ authorization: api.authorization })
      .type("form")
      .send(form);
    expect(reply.status).toBe(200);
    expect((await made())?.spec.overrides).toEqual({ backend: { env: [{ name: "LOG_LEVEL", value: "debug" }] } });
    expect(await kept("SECRET_KEY")).toEqual({ SECRET_KEY: "form-secret" });
  });

  test.each([{}, { helm_values: {} }, { helm_values: { backend: {} } }, { helm_values: { backend: { env: {} } } }])(
    "leave nothing behind when they say nothing: %j",
    async (config_overrides) => {
      expect((await post({ ...both, config_overrides })).status).toBe(200);
      expect((await made())?.spec).not.toHaveProperty("overrides");
      expect((await made())?.spec).not.toHaveProperty("secrets");
    },
  );

  test("take one secret value that both components are given alike", async () => {
    const same = { env: { SECRET_KEY: "same" } };
    expect((await post(overriding({ backend: same, frontend: same }))).status).toBe(200);
    expect((await made())?.spec.secrets).toEqual({ provided: ["SECRET_KEY"] });
  });
});
