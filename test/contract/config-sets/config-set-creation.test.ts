import { describe, expect, test } from "@jest/globals";
import { managedConfigSets, PATH, whole } from "./managed-config-sets.ts";

const sets = managedConfigSets();
const { call } = sets;

describe("making a config set", () => {
  test("answers 201 with all of it, and it can be read again", async () => {
    const made = await call("post", PATH, { name: "web", ...whole });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      status: "success",
      timestamp: expect.any(String),
      data: {
        id: "web",
        name: "web",
        ...whole,
        is_default: false,
        version: 1,
        used_by: 0,
        created_by: "mai@example.test",
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    });
    expect((await call("get", `${PATH}/web`)).body.data).toEqual(made.body.data);
  });

  test("keeps it as the resource words it", async () => {
    await call("post", PATH, { name: "web", ...whole });
    expect(sets.service.configSets.find("web")?.spec).toEqual({
      description: whole.description,
      production: true,
      helmValues: {
        backend: {
          replicas: 2,
          resources: whole.helm_values.backend.resources,
          cache: whole.helm_values.backend.cache,
          env: [
            { name: "TRACE", value: "1" },
            { name: "MAIL_KEY", secretRef: { name: "mail", key: "latest" } },
          ],
        },
        frontend: { theme: "dark" },
      },
      env: [
        { name: "LOG_LEVEL", value: "info" },
        { name: "PAYMENT_URL", secretRef: { name: "payment-sandbox", key: "3" } },
      ],
      sharedApiKeys: [{ name: "PAYMENT_KEY", secretRef: { name: "payment-sandbox", key: "latest" } }],
      database: { enabled: false, engine: "postgresql", version: "17.2", sizeGi: 5 },
      quota: whole.quota,
      ttlDefaultHours: 8,
      sleep: { schedule: { timeZone: "Europe/Berlin", awake: ["Mon-Fri 08:00-19:00"] } },
      access: { groups: ["shop"] },
    });
  });

  test("needs no more than a name", async () => {
    const { body } = await call("post", PATH, { name: "web" });
    expect(body.data).toMatchObject({
      description: "",
      production: false,
      helm_values: {},
      env: [],
      shared_api_keys: [],
      database: {},
      quota: {},
      access: { groups: [] },
    });
    expect(body.data).not.toHaveProperty("ttl_default_hours");
    expect(sets.service.configSets.find("web")?.spec).toEqual({});
  });

  test.each(["default", "reload", "api", "kube-x"])("may be called %s", async (name) => {
    expect((await call("post", PATH, { name })).body.data).toMatchObject({ id: name, name });
    expect((await call("get", `${PATH}/${name}`)).status).toBe(200);
  });
});
