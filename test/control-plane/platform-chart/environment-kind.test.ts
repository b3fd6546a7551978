import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { administrator, unique } from "../../support/faults/people.ts";
import { environmentObject, given, paths } from "../../support/fixtures/environment-objects.ts";
import type { ApiCalls } from "../../support/http/api-calls.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";

const plane = await controlPlane();

const dryRun = `${paths.environments}?dryRun=All`;
const source = { repository: "sample-backend", branch: "main" };
const pipeline = {
  ...{ project: "g/shop", id: 7, commit: "a".repeat(40), status: "failed" },
  ...{ url: "https://ci.example.test/7", at: "2026-01-01T00:00:00Z" },
};

/** A name, or a spec, and the words that the API server refuses it with. */
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
    environmentObject("shop", { backend: { ...source, pipeline: { ...pipeline, at: undefined } } }),
    "spec.backend.pipeline.at: Required value",
  ],
  [
    "a pipeline of an unknown status",
    environmentObject("shop", { backend: { ...source, pipeline: { ...pipeline, status: "skipped" } } }),
    'spec.backend.pipeline.status: Unsupported value: "skipped"',
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
    "a path outside the components",
    environmentObject("shop", { overrides: { values: [{ path: "secret.name", value: "1" }] } }),
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

const whole = {
  ttlHours: 24,
  backend: { ...source, pipeline },
  frontend: { repository: "sample-frontend", branch: "main", follow: true },
  database: { provision: true },
  secrets: { autoGenerate: true, useSharedApiKeys: true, provided: ["STRIPE_KEY"], rotate: { SECRET_KEY: "2" } },
  configSet: { name: "default", version: 3 },
  overrides: {
    backend: {
      env: [
        { name: "LOG_LEVEL", value: "debug" },
        { name: "STRIPE_KEY", secretRef: { name: "shared-stripe", key: "latest" } },
      ],
      replicas: 2,
      resources: { requests: { cpu: "100m" }, limits: { memory: "1Gi" } },
    },
    frontend: { replicas: 0 },
    values: [{ path: "backend.port", value: "8081" }],
  },
  access: { groups: ["shop-team"] },
  trigger: { kind: "api" },
  protected: false,
  suspended: false,
};
const refusedChanges: readonly [what: string, spec: object, words: string][] = [
  ["another backend", { backend: { repository: "other" } }, "spec.backend.repository can't be changed after creation"],
  [
    "another frontend",
    { frontend: { repository: "other" } },
    "spec.frontend.repository, and whether there is a frontend",
  ],
  ["no frontend any more", { frontend: null }, "spec.frontend.repository, and whether there is a frontend"],
  ["secrets that are not generated any more", { secrets: { autoGenerate: false } }, "spec.secrets.autoGenerate can't"],
  ["another config set", { configSet: { name: "other" } }, "spec.configSet.name can't be changed after creation"],
  ["no config set any more", { configSet: null }, "spec.configSet.name can't be changed after creation"],
  ["another trigger", { trigger: { kind: "pipeline" } }, "spec.trigger can't be changed after creation"],
  ["no trigger any more", { trigger: null }, "spec.trigger can't be changed after creation"],
  ["an older pipeline", { backend: { pipeline: { id: 6 } } }, "a newer pipeline of this project is recorded already"],
  [
    "another commit of the same pipeline",
    { backend: { pipeline: { commit: "b".repeat(40) } } },
    "a pipeline builds one commit, and never another",
  ],
  [
    "another commit's pipeline, while the wanted one's has not succeeded",
    { backend: { commit: "a".repeat(40), pipeline: { id: 8, commit: "b".repeat(40) } } },
    "another commit's can't take its place",
  ],
  ["no pipeline any more", { backend: { pipeline: null } }, "a recorded pipeline can't be removed"],
];

const acceptedChanges: readonly [what: string, spec: object][] = [
  ["another branch, commit and TTL", { ttlHours: 48, backend: { branch: "next", commit: "a".repeat(40) } }],
  ["protection and suspension", { protected: true, suspended: true }],
  ["another config set version", { configSet: { name: "default", version: 4 } }],
  ["no overrides and no database", { overrides: null, database: null }],
  ["silence on the secrets, which are generated then as before", { secrets: null }],
  ["another rotation, and secrets provided no longer", { secrets: { rotate: { SECRET_KEY: "3" }, provided: null } }],
  ["the same pipeline run again", { backend: { pipeline: { status: "running" } } }],
  ["a newer pipeline of another commit", { backend: { pipeline: { id: 8, commit: "b".repeat(40) } } }],
  [
    "a newer pipeline of another commit that is wanted from now on",
    { backend: { commit: "b".repeat(40), pipeline: { id: 8, commit: "b".repeat(40) } } },
  ],
  ["a pipeline of another project", { backend: { pipeline: { id: 1, project: "g/other", commit: "b".repeat(40) } } }],
  ["a first pipeline", { frontend: { pipeline } }],
];

describe("the kind EphemeralEnvironment", () => {
  const name = unique("kind-");
  let admin: ApiCalls;

  beforeAll(async () => {
    admin = administrator(plane);
    await given(admin, paths.environments, environmentObject(name, whole));
  }, 60_000);

  test.each([
    ["the smallest", environmentObject("abc")],
    ["the longest name", environmentObject("a".repeat(50))],
    ["every field", environmentObject("shop-pr-42", { ...whole, ttlHours: 168, protected: true })],
    ["the shortest TTL", environmentObject("shop", { ttlHours: 1 })],
    ["secrets that are all given", environmentObject("shop", { secrets: { autoGenerate: false } })],
  ])("accepts %s", async (_, object) => {
    expect(await admin.create(dryRun, object)).toMatchObject({ status: 201 });
  });

  test.each([...refusedNames, ...refusedSpecs])("refuses %s, and says so", async (_, object, words) => {
    const reply = await admin.create(dryRun, object);
    expect([400, 422]).toContain(reply.status);
    expect(reply.message).toContain(words);
  });

  test.each(refusedChanges)("refuses %s after creation, and says so", async (_, spec, words) => {
    const reply = await admin.patch(`${paths.environments}/${name}?dryRun=All`, { spec });
    expect(reply).toMatchObject({ status: 422 });
    expect(reply.message).toContain(words);
  });

  test.each(["environment", "environment-secrets"])("accepts the example %s", async (file) => {
    const path = new URL(`../../../deploy/examples/${file}.yaml`, import.meta.url);
    expect(await admin.create(dryRun, parse(await readFile(path, "utf8")))).toMatchObject({ status: 201 });
  });

  test.each(acceptedChanges)("accepts %s after creation", async (_, spec) => {
    expect(await admin.patch(`${paths.environments}/${name}?dryRun=All`, { spec })).toMatchObject({ status: 200 });
  });

  test.each(["failed", "canceled", "running"])("refuses %s after the success of a pipeline", async (status) => {
    const succeeded = unique("kind-");
    const backend = { ...source, pipeline: { ...pipeline, status: "success" } };
    await given(admin, paths.environments, environmentObject(succeeded, { backend }));
    const change = { spec: { backend: { pipeline: { status } } } };
    const reply = await admin.patch(`${paths.environments}/${succeeded}?dryRun=All`, change);
    await admin.delete(`${paths.environments}/${succeeded}`);
    expect(reply).toMatchObject({ status: 422 });
    expect(reply.message).toContain("the success of a pipeline is final");
  });

  test("shows phase, URL, owner, expiry and age to kubectl", async () => {
    const { stdout } = await promisify(execFile)(plane.kubectl, [
      "--kubeconfig",
      plane.kubeconfigPath,
      "get",
      "eenv",
      name,
    ]);
    const [header = ""] = stdout.split("\n");
    expect(header.split(/\s+/).filter(Boolean)).toEqual(["NAME", "PHASE", "URL", "OWNER", "EXPIRES", "AGE"]);
  });
});
