import { beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { environmentObject, given, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, type Person, personWith, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const group = "ephemeral-environments.dev";
const dryRun = `${paths.environments}?dryRun=All`;
const owner = { subject: "https://issuer.test#dev", email: "dev@example.test", name: "Dev" };
const finalizer = `${group}/teardown`;
const source = { repository: "sample-backend", branch: "main" };
const pipeline = {
  project: "g/shop",
  workflow: "",
  id: 7,
  commit: "a".repeat(40),
  status: "running",
  at: "2026-01-01T00:00:00Z",
};

const refusedToMake: readonly [what: string, object: object, words: string][] = [
  ["an owner", environmentObject("shop", { owner }), "spec.owner is set by the platform"],
  ["a trigger", environmentObject("shop", { trigger: { kind: "api" } }), "spec.trigger is set by the platform"],
  [
    "a pipeline of the backend",
    environmentObject("shop", { backend: { ...source, pipelines: [pipeline] } }),
    "are what the pipeline host reported",
  ],
  [
    "a pipeline of the frontend",
    environmentObject("shop", { frontend: { ...source, pipelines: [pipeline] } }),
    "are what the pipeline host reported",
  ],
  [
    "a group of others",
    environmentObject("shop", { access: { groups: ["shop-team", "other-team"] } }),
    "spec.access.groups names other-team, where you are no member: name only groups of your own",
  ],
  [
    "a label of ours",
    environmentObject("shop", {}, { labels: { [`${group}/environment-uid`]: "x" } }),
    `labels under ${group}/ are the platform's`,
  ],
  [
    "an annotation of ours",
    environmentObject("shop", {}, { annotations: { [`${group}/reconcile-at`]: "now" } }),
    `annotations under ${group}/ are the platform's`,
  ],
  [
    "our finalizer",
    environmentObject("shop", {}, { finalizers: [finalizer] }),
    `the finalizer ${finalizer} is held until everything is gone`,
  ],
];

const refusedToChange: readonly [what: string, change: object, words: string][] = [
  ["the owner", { spec: { owner: { name: "Me" } } }, "spec.owner is set by the platform"],
  [
    "the pipelines",
    { spec: { backend: { pipelines: [{ ...pipeline, id: 8 }] } } },
    "are what the pipeline host reported",
  ],
  ["the owner away", { spec: { owner: null } }, "spec.owner is set by the platform"],
  ["the groups", { spec: { access: { groups: ["shop-team", "third-team"] } } }, "spec.access can't be changed"],
  ["the groups away", { spec: { access: null } }, "spec.access can't be changed after creation without"],
  ["a label of ours", { metadata: { labels: { [`${group}/set-by`]: "me" } } }, "labels under"],
  ["a label of ours away", { metadata: { labels: { [`${group}/set-by`]: null } } }, "labels under"],
  ["an annotation of ours", { metadata: { annotations: { [`${group}/note`]: "me" } } }, "annotations under"],
  ["an annotation of ours away", { metadata: { annotations: { [`${group}/note`]: null } } }, "annotations under"],
  ["our finalizer away", { metadata: { finalizers: null } }, "is held until everything is gone"],
];

describe("rights on an environment", () => {
  const name = unique("rights-");
  const path = `${paths.environments}/${name}`;
  let admin: ApiCalls;
  let platform: ApiCalls;
  let developer: Person;
  let maintainer: Person;

  beforeAll(async () => {
    admin = administrator(plane);
    platform = callsAs(plane, { token: plane.platform.token });
    const verbs = ["get", "create", "update", "patch", "delete"];
    const resources = ["ephemeralenvironments", "ephemeralenvironments/status"];
    developer = await personWith(plane, [{ apiGroups: [group], resources, verbs }], ["shop-team"]);
    maintainer = await personWith(plane, "ephemeral-environments-maintain");
    const metadata = {
      labels: { [`${group}/set-by`]: "platform", team: "shop" },
      annotations: { [`${group}/note`]: "x" },
      finalizers: [finalizer],
    };
    const spec = { owner, access: { groups: ["other-team"] }, backend: { ...source, pipelines: [pipeline] } };
    await given(platform, paths.environments, environmentObject(name, spec, metadata));
    for (const person of [developer, maintainer]) {
      await until(async () => (await person.get(path)).status === 200, { what: "a person's rights" });
    }
  }, 60_000);

  test.each(refusedToMake)("without 'assign', no user makes one with %s", async (_, object, words) => {
    const reply = await developer.create(dryRun, object);
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
  });

  test.each(refusedToMake)("with 'assign', a maintainer and the platform make one with %s", async (_, object) => {
    expect(await maintainer.create(dryRun, object)).toMatchObject({ status: 201 });
    expect(await platform.create(dryRun, object)).toMatchObject({ status: 201 });
  });

  test("without 'assign', one may be shared with groups of one's own", async () => {
    const object = environmentObject("shop", { access: { groups: ["shop-team"] } }, { labels: { team: "shop" } });
    expect(await developer.create(dryRun, object)).toMatchObject({ status: 201 });
  });

  test.each(refusedToChange)("without 'assign', no user changes %s", async (_, change, words) => {
    const reply = await developer.patch(`${path}?dryRun=All`, change);
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
  });

  test.each(refusedToChange)("with 'assign', a maintainer changes %s", async (_, change) => {
    expect(await maintainer.patch(`${path}?dryRun=All`, change)).toMatchObject({ status: 200 });
  });

  test("without 'assign', all else may be changed", async () => {
    const change = { metadata: { labels: { team: "other" } }, spec: { ttlHours: 48, backend: { branch: "next" } } };
    expect(await developer.patch(`${path}?dryRun=All`, change)).toMatchObject({ status: 200 });
  });

  test("the status is written by the platform alone", async () => {
    const status = { status: { phase: "ready" } };
    const words = "the status is what the platform observed, no other client writes it";
    for (const person of [developer, admin]) {
      const reply = await person.patch(`${path}/status`, status);
      expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
    }
    expect(await platform.patch(`${path}/status`, status)).toMatchObject({ status: 200, object: status });
  });

  test("a protected one can't be deleted until it is no longer protected", async () => {
    await platform.patch(path, { spec: { protected: true } });
    const words = `environment ${name} is protected: set spec.protected to false first, then delete it`;
    for (const person of [developer, maintainer, platform, admin]) {
      const reply = await person.delete(path);
      expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
    }
    await platform.patch(path, { spec: { protected: false } });
    expect(await developer.delete(`${path}?dryRun=All`)).toMatchObject({ status: 200 });
  });

  test("one that is protected for a time can't be deleted until that is removed, whatever the time", async () => {
    await platform.patch(path, { spec: { protectedUntil: "2026-01-01T00:00:00Z" } });
    const words = `environment ${name} is protected for a time: remove spec.protectedUntil first, then delete it`;
    for (const person of [developer, maintainer, platform, admin]) {
      const reply = await person.delete(path);
      expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
    }
    await developer.patch(path, { spec: { protectedUntil: null } });
    expect(await developer.delete(`${path}?dryRun=All`)).toMatchObject({ status: 200 });
  });

  test("protection holds against the deletion of all at once, too", async () => {
    const other = unique("rights-");
    await given(admin, paths.environments, environmentObject(other, { protected: true }));
    const selected = `${paths.environments}?fieldSelector=metadata.name%3D${other}`;
    expect(await admin.delete(selected)).toMatchObject({ status: 403 });
    await admin.patch(`${paths.environments}/${other}`, { spec: { protected: false } });
    expect(await admin.delete(selected)).toMatchObject({ status: 200 });
    expect(await admin.get(`${paths.environments}/${other}`)).toMatchObject({ status: 404 });
  });
});
