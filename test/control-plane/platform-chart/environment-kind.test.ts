import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ApiCalls } from "../../support/api-calls.ts";
import { controlPlane } from "../../support/control-plane.ts";
import { environmentObject, given, paths } from "../../support/environment-objects.ts";
import { administrator, unique } from "../../support/people.ts";
import { installPlatformChart } from "../../support/platform-chart.ts";

const dryRun = `${paths.environments}?dryRun=All`;
const source = { repository: "sample-backend", branch: "main" };

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
  ["a database", environmentObject("shop", { database: { provision: true } }), "this release provisions no databases"],
  ["a config set", environmentObject("shop", { configSet: { name: "default" } }), "this release has no config sets"],
  ["overrides", environmentObject("shop", { overrides: {} }), "this release has no overrides"],
  ["suspension", environmentObject("shop", { suspended: true }), "this release can't suspend an environment"],
  [
    "no generated secrets",
    environmentObject("shop", { secrets: { autoGenerate: false } }),
    "this release always generates the secrets",
  ],
  [
    "shared API keys",
    environmentObject("shop", { secrets: { useSharedApiKeys: true } }),
    "this release has no shared API keys",
  ],
];

const whole = {
  ttlHours: 24,
  frontend: { repository: "sample-frontend", branch: "main" },
  secrets: { autoGenerate: true },
  trigger: { kind: "api" },
};
const refusedChanges: readonly [what: string, spec: object, words: string][] = [
  ["another backend", { backend: { repository: "other" } }, "spec.backend.repository can't be changed after creation"],
  [
    "another frontend",
    { frontend: { repository: "other" } },
    "spec.frontend.repository, and whether there is a frontend",
  ],
  ["no frontend any more", { frontend: null }, "spec.frontend.repository, and whether there is a frontend"],
  ["silence on the secrets", { secrets: null }, "spec.secrets.autoGenerate can't be changed after creation"],
  ["another trigger", { trigger: { kind: "pipeline" } }, "spec.trigger can't be changed after creation"],
  ["no trigger any more", { trigger: null }, "spec.trigger can't be changed after creation"],
];

describe("the kind EphemeralEnvironment", () => {
  const plane = controlPlane();
  const name = unique("kind-");
  let admin: ApiCalls;

  beforeAll(async () => {
    await installPlatformChart(plane);
    admin = administrator(plane);
    await given(admin, paths.environments, environmentObject(name, whole));
  }, 60_000);

  afterAll(async () => {
    await admin.delete(`${paths.environments}/${name}`);
  });

  test.each([
    ["the smallest", environmentObject("abc")],
    ["the longest name", environmentObject("a".repeat(50))],
    ["every field of this release", environmentObject("shop-pr-42", { ...whole, ttlHours: 168, protected: true })],
    ["the shortest TTL", environmentObject("shop", { ttlHours: 1 })],
    ["what is off anyway", environmentObject("shop", { database: { provision: false }, suspended: false })],
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

  test("accepts another branch, commit and TTL after creation", async () => {
    const spec = { ttlHours: 48, backend: { branch: "next", commit: "a".repeat(40) }, protected: true };
    expect(await admin.patch(`${paths.environments}/${name}?dryRun=All`, { spec })).toMatchObject({ status: 200 });
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
