import { readFile } from "node:fs/promises";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { pipeline, source, wholeSpec } from "../../support/fixtures/whole-spec.ts";
import { environmentObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator } from "../../support/plane/people.ts";

const admin = administrator(await controlPlane());
const dryRun = `${paths.environments}?dryRun=All`;

const numbered = (count: number, one: object) => Array.from({ length: count }, (_, at) => ({ name: `V${at}`, ...one }));

type Refusal = readonly [what: string, object: object, words: string];

const refusedNames: Refusal[] = [
  ["too short", environmentObject("ab"), "metadata.name 'ab' must have 3 to 50 characters"],
  ["too long", environmentObject("a".repeat(51)), "must have 3 to 50 characters"],
  ["a digit first", environmentObject("1shop"), "metadata.name '1shop' must be lower-case letters, digits and hyphens"],
  ["a dot", environmentObject("shop.eu"), "metadata.name 'shop.eu' must be lower-case letters, digits and hyphens"],
  ["two hyphens", environmentObject("shop--api"), "metadata.name 'shop--api' must not contain '--'"],
  ["like a UUID", environmentObject("a1111111-2222-4333-8444-555555555555"), "must not look like a UUID"],
  ["a host of ours", environmentObject("argocd"), "metadata.name 'argocd' is reserved"],
  ["a reserved prefix", environmentObject("kube-shop"), "metadata.name 'kube-shop' is reserved"],
];

const seed = { image: "registry.test/seed:1", path: "/seed/data.sql", format: "sql" };

const refusedSpecs: Refusal[] = [
  ["no spec", { ...environmentObject("shop"), spec: undefined }, "spec: Required value"],
  ["no backend", { ...environmentObject("shop"), spec: {} }, "spec.backend: Required value"],
  ["TTL 0", environmentObject("shop", { ttlHours: 0 }), "spec.ttlHours in body should be greater than or equal to 1"],
  [
    "TTL 169",
    environmentObject("shop", { ttlHours: 169 }),
    "spec.ttlHours in body should be less than or equal to 168",
  ],
  [
    "a TTL with a fraction",
    environmentObject("shop", { ttlHours: 1.5 }),
    "spec.ttlHours in body must be of type integer",
  ],
  ["an unknown field", environmentObject("shop", { ttl: 5 }), 'strict decoding error: unknown field "spec.ttl"'],
  [
    "a seed without a database",
    environmentObject("shop", { database: { provision: false, seed } }),
    "spec.database.seed: Invalid value: a seed needs provision: true",
  ],
  [
    "a copy without a database",
    environmentObject("shop", { database: { provision: false, from: { environment: "other" } } }),
    "spec.database.from: Invalid value: a copy needs provision: true",
  ],
  [
    "a copy beside a seed",
    environmentObject("shop", { database: { provision: true, seed, from: { environment: "other" } } }),
    "spec.database.from: Invalid value: a database begins with a seed or with a copy",
  ],
  [
    "a copy of itself",
    environmentObject("shop", { database: { provision: true, from: { environment: "shop" } } }),
    "spec.database.from.environment: Invalid value: a database can't be a copy of itself",
  ],
  [
    "a seed in another format",
    environmentObject("shop", { database: { provision: true, seed: { ...seed, format: "csv" } } }),
    'Unsupported value: "csv"',
  ],
  [
    "a seed of an image without a tag",
    environmentObject("shop", { database: { provision: true, seed: { ...seed, image: "registry.test/seed" } } }),
    "spec.database.seed.image in body should match",
  ],
  [
    "an option as a branch",
    environmentObject("shop", { backend: { ...source, branch: "--upload-pack=x" } }),
    "spec.backend.branch in body should match",
  ],
  [
    "a range as a branch",
    environmentObject("shop", { backend: { ...source, branch: "a..b" } }),
    "spec.backend.branch: Invalid value: a branch must not contain '..'",
  ],
  [
    "a branch that git would take for a lock",
    environmentObject("shop", { backend: { ...source, branch: "a.lock" } }),
    "spec.backend.branch: Invalid value: a branch must not end with '.lock'",
  ],
  [
    "a short commit",
    environmentObject("shop", { backend: { ...source, commit: "abc" } }),
    "spec.backend.commit in body should match",
  ],
  [
    "a pipeline that doesn't say since when",
    environmentObject("shop", { backend: { ...source, pipelines: [{ ...pipeline, at: undefined }] } }),
    "spec.backend.pipelines[0].at: Required value",
  ],
  [
    "a pipeline of an unknown status",
    environmentObject("shop", { backend: { ...source, pipelines: [{ ...pipeline, status: "skipped" }] } }),
    'spec.backend.pipelines[0].status: Unsupported value: "skipped"',
  ],
  [
    "pipelines of two commits",
    environmentObject("shop", {
      backend: { ...source, pipelines: [pipeline, { ...pipeline, workflow: "lint.yml", commit: "b".repeat(40) }] },
    }),
    "the pipelines are those of one commit",
  ],
  [
    "two pipelines of one workflow",
    environmentObject("shop", { backend: { ...source, pipelines: [pipeline, { ...pipeline, id: 8 }] } }),
    "spec.backend.pipelines[1]: Duplicate value",
  ],
  [
    "a variable without a value",
    environmentObject("shop", { overrides: { backend: { env: [{ name: "A" }] } } }),
    "a variable has either a value or a secretRef",
  ],
  [
    "a variable with two values",
    environmentObject("shop", {
      overrides: { backend: { env: [{ name: "A", value: "", secretRef: { name: "shared", key: "latest" } }] } },
    }),
    "a variable has either a value or a secretRef",
  ],
  [
    "the port as a variable",
    environmentObject("shop", { overrides: { backend: { env: [{ name: "PORT", value: "3000" }] } } }),
    "spec.overrides.backend.env: Invalid value: PORT is what the platform sets: change spec.port of the Repository",
  ],
  [
    "a variable with a sign that Kubernetes does not take",
    environmentObject("shop", { overrides: { backend: { env: [{ name: "A=B", value: "x" }] } } }),
    "spec.overrides.backend.env[0].name in body should match",
  ],
  [
    "too many variables",
    environmentObject("shop", { overrides: { backend: { env: numbered(501, { value: "x" }) } } }),
    "spec.overrides.backend.env: Too many: 501: must have at most 500 items",
  ],
  [
    "variables that are too long together",
    environmentObject("shop", { overrides: { backend: { env: numbered(8, { value: "x".repeat(32_768) }) } } }),
    "spec.overrides.backend.env: Invalid value: the variables may have 245760 characters at most",
  ],
  [
    "too many references",
    environmentObject("shop", {
      overrides: { backend: { env: numbered(101, { secretRef: { name: "shared", key: "latest" } }) } },
    }),
    "spec.overrides.backend.env: Invalid value: may refer to 100 secrets at most",
  ],
  [
    "a variable twice",
    environmentObject("shop", {
      overrides: {
        backend: {
          env: [
            { name: "A", value: "1" },
            { name: "A", value: "2" },
          ],
        },
      },
    }),
    "Duplicate value",
  ],
  [
    "a version of a secret that is none",
    environmentObject("shop", {
      overrides: { backend: { env: [{ name: "A", secretRef: { name: "shared", key: "0" } }] } },
    }),
    "secretRef.key in body should match",
  ],
  [
    "a path by another syntax",
    environmentObject("shop", { overrides: { values: [{ path: "secret[0].name", value: "1" }] } }),
    "spec.overrides.values[0].path in body should match",
  ],
  [
    "more replicas than there may be",
    environmentObject("shop", { overrides: { backend: { replicas: 21 } } }),
    "spec.overrides.backend.replicas in body should be less than or equal to 20",
  ],
  [
    "version 0 of a config set",
    environmentObject("shop", { configSet: { name: "default", version: 0 } }),
    "spec.configSet.version in body should be greater than or equal to 1",
  ],
];

describe("the kind EphemeralEnvironment", () => {
  test.each([
    ["the smallest", environmentObject("abc")],
    ["the longest name", environmentObject("a".repeat(50))],
    ["every field", environmentObject("shop-pr-42", { ...wholeSpec, ttlHours: 168, protected: true })],
    ["the shortest TTL", environmentObject("shop", { ttlHours: 1 })],
    ["secrets that are all given", environmentObject("shop", { secrets: { autoGenerate: false } })],
    [
      "500 variables, with dots and dashes",
      environmentObject("shop", {
        overrides: {
          backend: { env: [...numbered(499, { value: "x".repeat(400) }), { name: "discovery.type-2", value: "" }] },
        },
      }),
    ],
    [
      "long variables of both components",
      environmentObject("shop", {
        overrides: {
          backend: { env: numbered(4, { value: "x".repeat(32_768) }) },
          frontend: { env: numbered(3, { value: "x".repeat(32_768) }) },
        },
      }),
    ],
  ])("accepts %s", async (_, object) => {
    expect(await admin.create(dryRun, object)).toMatchObject({ status: 201 });
  });

  test.each([...refusedNames, ...refusedSpecs])("refuses %s, and says so", async (_, object, words) => {
    const reply = await admin.create(dryRun, object);
    expect([400, 422]).toContain(reply.status);
    expect(reply.message).toContain(words);
  });

  test.each(["environment", "environment-secrets"])("accepts the example %s", async (file) => {
    const path = new URL(`../../../deploy/examples/${file}.yaml`, import.meta.url);
    expect(await admin.create(dryRun, parse(await readFile(path, "utf8")))).toMatchObject({ status: 201 });
  });
});
