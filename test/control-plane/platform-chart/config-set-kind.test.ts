import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import type { ApiCalls } from "../../support/plane/api-calls.ts";
import { paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator } from "../../support/plane/people.ts";

const plane = await controlPlane();

const dryRun = `${paths.configSets}?dryRun=All`;

function configSetObject(spec: object, name = "web"): object {
  return { apiVersion: "ephemeral-environments.dev/v1", kind: "ConfigSet", metadata: { name }, spec };
}

describe("the kind ConfigSet", () => {
  let admin: ApiCalls;

  beforeAll(async () => {
    admin = administrator(plane);
  }, 60_000);

  test("accepts the example", async () => {
    const file = new URL("../../../deploy/examples/config-set.yaml", import.meta.url);
    const reply = await admin.create(dryRun, parse(await readFile(file, "utf8")) as object);
    expect(reply).toMatchObject({ status: 201 });
  });

  test.each([
    ["an empty one", {}],
    [
      "a full one",
      {
        description: "x",
        production: true,
        env: [
          { name: "A", value: "" },
          { name: "B", secretRef: { name: "shared", key: "3" } },
        ],
        sharedApiKeys: [{ name: "C", secretRef: { name: "shared", key: "latest" } }],
        database: {
          enabled: true,
          engine: "postgresql",
          version: "16",
          sizeGi: 2,
          seed: { image: "registry.test:5000/shop/seed:1", path: "/seed/data.dump", format: "dump" },
          mask: ["UPDATE people\n  SET email = id || '@example.com'", "TRUNCATE sessions"],
        },
        quota: { cpu: "2", memory: "1.5Gi", storage: "1e9", pods: 0 },
        ttlDefaultHours: 168,
        access: { groups: ["team"] },
        values: "a: ${backend.image}",
      },
    ],
  ])("accepts %s", async (_what, spec) => {
    expect(await admin.create(dryRun, configSetObject(spec))).toMatchObject({ status: 201 });
  });

  test("keeps what only a chart knows below a component", async () => {
    const helmValues = { backend: { replicas: 1, cache: { size: 1, parts: [null, { a: true }] } } };
    const reply = await admin.create(dryRun, configSetObject({ helmValues }));
    expect(reply.object).toMatchObject({ spec: { helmValues } });
  });

  test("refuses what no component is, and says so", async () => {
    const reply = await admin.create(dryRun, configSetObject({ helmValues: { global: { a: 1 } } }));
    expect(reply).toMatchObject({ status: 400 });
    expect(reply.message).toContain('unknown field "spec.helmValues.global"');
  });

  test.each([
    [
      "an unknown reference",
      { values: "a: ${backend.img}" },
      "'${backend.img}' is not known: there are environment.name, ",
    ],
    ["a variable that is no name", { env: [{ name: "A=B", value: "x" }] }, "spec.env[0].name in body should match"],
    ["a variable without a value", { env: [{ name: "A" }] }, "a variable has either a value or a secretRef"],
    ["a value with a NUL", { env: [{ name: "A", value: "a\u0000b" }] }, "spec.env[0].value in body should match"],
    [
      "the port as a variable",
      { env: [{ name: "PORT", value: "3000" }] },
      "spec.env: Invalid value: PORT is what the platform sets",
    ],
    [
      "the port as a variable of a component",
      { helmValues: { backend: { env: [{ name: "PORT", value: "3000" }] } } },
      "spec.helmValues.backend.env: Invalid value: PORT is what the platform sets",
    ],
    [
      "a variable that is given twice",
      {
        env: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
        ],
      },
      'spec.env[1]: Duplicate value: {"name":"A"}',
    ],
    [
      "a bad variable among the values",
      { helmValues: { backend: { env: [{ name: "A", value: "x", secretRef: { name: "s", key: "1" } }] } } },
      "a variable has either a value or a secretRef",
    ],
    [
      "a text of values",
      { helmValues: { backend: "image: x" } },
      "spec.helmValues.backend in body must be of type object",
    ],
    ["too many replicas", { helmValues: { frontend: { replicas: 21 } } }, "should be less than or equal to 20"],
    ["an amount that is none", { quota: { cpu: "many" } }, "spec.quota.cpu in body should match"],
    ["a TTL beyond a week", { ttlDefaultHours: 169 }, "should be less than or equal to 168"],
    [
      "an unknown time zone",
      { sleep: { schedule: { timeZone: "Mars/Olympus", awake: ["Mon 08:00-19:00"] } } },
      "timeZone is an IANA name, such as Europe/Berlin",
    ],
    [
      "hours that no clock shows",
      { sleep: { schedule: { timeZone: "UTC", awake: ["Mon 08:00-25:00"] } } },
      "spec.sleep.schedule.awake[0] in body should match",
    ],
    [
      "a schedule without hours",
      { sleep: { schedule: { timeZone: "UTC", awake: [] } } },
      "spec.sleep.schedule.awake in body should have at least 1 items",
    ],
    [
      "a seed of an image without a tag",
      { database: { seed: { image: "registry.test:5000/shop/seed", path: "/data.sql", format: "sql" } } },
      "spec.database.seed.image in body should match",
    ],
    [
      "a seed of a path that leaves the image",
      { database: { seed: { image: "seed:1", path: "/../data.sql", format: "sql" } } },
      "spec.database.seed.path in body should match",
    ],
    [
      "a mask that is a command of psql",
      { database: { mask: ["\\! id"] } },
      "spec.database.mask[0] in body should match",
    ],
    ["another database engine", { database: { engine: "oracle" } }, 'Unsupported value: "oracle"'],
    [
      "a key of a shared secret that is none",
      { sharedApiKeys: [{ name: "A", secretRef: { name: "s", key: "0" } }] },
      "should match",
    ],
  ])("refuses %s, and says so", async (_what, spec, words) => {
    const reply = await admin.create(dryRun, configSetObject(spec));
    expect(reply).toMatchObject({ status: 422 });
    expect(reply.message).toContain(words);
  });

  test.each(["default", "reload", "kube-x", "ephemeral-x", "api"])("accepts the name %s", async (name) => {
    expect(await admin.create(dryRun, configSetObject({}, name))).toMatchObject({ status: 201 });
  });

  test.each([
    ["a--b", "must not contain '--'"],
    ["ab", "must have 3 to 50 characters"],
    ["3f0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10", "must be lower-case letters, digits and hyphens, start with a letter"],
  ])("refuses the name %s, and says so", async (name, words) => {
    const reply = await admin.create(dryRun, configSetObject({}, name));
    expect(reply).toMatchObject({ status: 422 });
    expect(reply.message).toContain(words);
  });
});
