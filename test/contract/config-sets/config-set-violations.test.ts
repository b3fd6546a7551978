import { describe, expect, test } from "@jest/globals";
import { ConfigInvalid } from "../../../crds/errors.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import { managedConfigSets, PATH, whole } from "./managed-config-sets.ts";

const sets = managedConfigSets();
const { call } = sets;

describe("making a config set", () => {
  test("is refused under a name that is taken, also by one of other people", async () => {
    expectProblem(await call("post", PATH, { name: "billing-set" }), 409, "A config set of this name exists already");
  });

  test.each<[string, object, string]>([
    ["a field that it does not have", { id: "x" }, "id: is not a known field"],
    ["a name of an environment's rules", { name: "a--b" }, "name: must not contain '--'"],
    ["a variable without value", { env: [{ name: "A" }] }, "env.0: must have either a value or a secret_ref"],
    [
      "a variable with two sources",
      { env: [{ name: "A", value: "", secret_ref: { name: "mail", key: "1" } }] },
      "env.0: must have either a value or a secret_ref",
    ],
    [
      "a variable twice",
      {
        env: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
        ],
      },
      "env.1.name: A is given twice",
    ],
    [
      "a shared key twice",
      { shared_api_keys: [whole.shared_api_keys[0], whole.shared_api_keys[0]] },
      "shared_api_keys.1.name: PAYMENT_KEY is given twice",
    ],
    ["a bad variable's name", { env: [{ name: "A=B", value: "1" }] }, "env.0.name: must be the name of a variable"],
    [
      "a reference with a path",
      { env: [{ name: "A", secret_ref: { name: "projects/x/secrets/y", key: "latest" } }] },
      "env.0.secret_ref.name: must be the id of a secret",
    ],
    [
      "a reference to a version that is none",
      { env: [{ name: "A", secret_ref: { name: "mail", key: "0" } }] },
      "env.0.secret_ref.key: must be 'latest' or the number of a version",
    ],
    ["the port as a variable", { env: [{ name: "PORT", value: "1" }] }, "env.0: PORT is what the platform sets"],
    [
      "the port as a variable of a component",
      { helm_values: { frontend: { env: { PORT: "1" } } } },
      "helm_values.frontend.env.PORT: PORT is what the platform sets: change port of the Repository",
    ],
    ["text instead of values", { helm_values: { backend: "image: x" } }, "helm_values.backend: must be an object"],
    ["values of no component", { helm_values: { global: {} } }, "helm_values.global: is not a known field"],
    [
      "too many replicas",
      { helm_values: { backend: { replicas: 21 } } },
      "helm_values.backend.replicas: must be <= 20",
    ],
    ["another database engine", { database: { engine: "oracle" } }, "database.engine: must be one of postgresql"],
    ["a database of no size", { database: { size_gi: 0 } }, "database.size_gi: must be >= 1"],
    ["a quota that is no amount", { quota: { cpu: "many" } }, "quota.cpu: must be a quantity of Kubernetes"],
    [
      "an unknown time zone",
      { sleep: { schedule: { time_zone: "Mars/Olympus", awake: ["Mon 08:00-19:00"] } } },
      "sleep.schedule.time_zone: must be an IANA time zone, such as Europe/Berlin",
    ],
    ["a TTL beyond a week", { ttl_default_hours: 169 }, "ttl_default_hours: must be <= 168"],
    ["groups that are no list", { access: { groups: "shop" } }, "access.groups: must be an array"],
  ])("is refused with %s, and says where", async (_what, body, words) => {
    const reply = await call("post", PATH, { name: "web", ...body });
    expectProblem(reply, 400, new RegExp(RegExp.escape(words)), "ENV_CONFIG_INVALID");
    expect(sets.service.configSets.find("web")).toBeUndefined();
  });

  test("is refused with everything that is wrong at once", async () => {
    const body = { name: "x", env: [{ name: "1", value: "" }], quota: { pods: -1 }, stray: 1 };
    const reply = await call("post", PATH, body);
    for (const field of ["name: ", "env.0.name: ", "quota.pods: ", "stray: "]) {
      expect(reply.body.detail).toContain(field);
    }
  });

  test("is refused where the API server refuses it, with the request's own field", async () => {
    const field = "spec.helmValues.backend.env[0].secretRef";
    sets.service.configSets.failNext(new ConfigInvalid([{ field, message: "is not so" }]));
    const reply = await call("post", PATH, { name: "web" });
    expectProblem(reply, 400, "helm_values.backend.env.0.secret_ref: is not so", "ENV_CONFIG_INVALID");
  });

  // Abuse case 38, for values that every environment of the set would read.
  test.each([
    ["env", { env: [{ name: "A", secret_ref: { name: "platform-webhook", key: "latest" } }] }, "env.0.secret_ref.name"],
    ["env", { env: [{ name: "A", secret_ref: { name: "billing-key", key: "latest" } }] }, "env.0.secret_ref.name"],
    [
      "shared_api_keys",
      { shared_api_keys: [{ name: "A", secret_ref: { name: "mail-x", key: "1" } }] },
      "shared_api_keys.0.secret_ref.name",
    ],
    [
      "helm_values",
      { helm_values: { frontend: { env: { A: { secretKeyRef: { name: "other", key: "1" } } } } } },
      "helm_values.frontend.env.A.secretKeyRef.name",
    ],
  ])(
    "is refused with a reference in %s to what the settings don't share with the writer",
    async (_where, body, field) => {
      const reply = await call("post", PATH, { name: "web", ...body });
      expectProblem(
        reply,
        400,
        `${field}: names no secret that the settings share with a group of yours`,
        "ENV_CONFIG_INVALID",
      );
      expect(sets.service.log).toContainEqual(
        expect.objectContaining({ message: "a reference to a secret was refused" }),
      );
    },
  );

  test.each([
    ["env", { env: [{ name: "SECRET_KEY", value: "hunter2" }] }, "env.0"],
    [
      "helm_values",
      { helm_values: { backend: { env: { API_TOKEN: "hunter2" } } } },
      "helm_values.backend.env.API_TOKEN",
    ],
  ])("is refused with the text of a secret in %s", async (_where, body, field) => {
    const reply = await call("post", PATH, { name: "web", ...body });
    expectProblem(reply, 400, new RegExp(`^${field}: .* is a secret`), "ENV_CONFIG_INVALID");
    expect(JSON.stringify([reply.body, sets.service.log])).not.toContain("hunter2");
  });

  test.each(["12345678901234567890", "1e400"])(
    "is refused with a number that would become another: %s",
    async (number) => {
      const authorization = await sets.service.bearer("maintainer");
      const headers = { authorization, "content-type": "application/json" };
      const body = `{"name":"web","helm_values":{"backend":{"cache":[{"size":${number}}]}}}`;
      const detail = "helm_values.backend.cache.0.size: must be a number that keeps all its digits";
      expectProblem(await sets.service.http.post(PATH).set(headers).send(body), 400, detail, "ENV_CONFIG_INVALID");
    },
  );

  // Abuse case 45.
  test.each([
    ["__proto__", '{"name":"web","helm_values":{"backend":{"__proto__":{"polluted":1}}}}'],
    ["constructor.prototype", '{"name":"web","helm_values":{"backend":{"constructor":{"prototype":{"polluted":1}}}}}'],
  ])("is refused with values that reach a prototype: %s", async (_what, body) => {
    const authorization = await sets.service.bearer("maintainer");
    const headers = { authorization, "content-type": "application/json" };
    expectProblem(await sets.service.http.post(PATH).set(headers).send(body), 400);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(sets.service.configSets.find("web")).toBeUndefined();
  });
});
