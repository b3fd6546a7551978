import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import type { Pipeline } from "../../../crds/environment/ephemeral-environment.schema.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { until } from "../../support/fixtures/until.ts";
import { backendOnly, COMMIT, createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.startOperator();
}, 180_000);
afterAll(() => world.stop(), 60_000);

const NEXT = "b".repeat(40);
const OTHER = "c".repeat(40);
const URL = "https://ci.example.test/7";

function built(commit: string, more: Partial<Pipeline> = {}): EnvironmentSpec {
  const at = new Date().toISOString();
  const pipeline: Pipeline = {
    project: "g/shop",
    workflow: "",
    id: 7,
    commit,
    status: "running",
    url: URL,
    at,
    ...more,
  };
  return { backend: { ...backendOnly.backend, commit, pipelines: [pipeline] } };
}

const report = (name: string, spec: EnvironmentSpec) =>
  world.admin.patch(environmentType, { name }, { spec }, { as: "merge" });
const applicationRef = (name: string) => ({ name: `env-${name}`, namespace: "argocd" });
const imageOf = async (name: string) => (await applicationValues(world.admin, name))?.backend.image;
const commitOf = ({ status }: EphemeralEnvironment) => status?.components?.backend?.commit;
const imageIs = (commit: string) => `docker.io/local/test-backend:${commit}`;

/** A ready environment with one commit that waits for the next one's build. */
async function building(name: string): Promise<void> {
  await world.create(name);
  await world.expectPhase(name, "ready");
  await report(name, built(NEXT));
  expect(commitOf(await world.expectPhase(name, "building"))).toBe(COMMIT);
}

describe("a first commit that is being built", () => {
  test("finds all prepared when its pipeline succeeds, and no application before", async () => {
    const made = await world.create("first", built(COMMIT));
    const waiting = await world.expectState(
      "first",
      "prepared",
      ({ status }) => findCondition(status?.conditions, "SecretsReady")?.status === "True",
    );
    expect(waiting.status?.phase).toBe("building");
    expect(findCondition(waiting.status?.conditions, "SourceResolved")).toMatchObject({
      status: "Unknown",
      reason: "Building",
    });
    const kinds = [...(await world.inventory(made)).keys()].map((title) => title.split("/")[0]);
    expect(kinds).toEqual(expect.arrayContaining(["Namespace", "Secret", "NetworkPolicy"]));
    expect(kinds).not.toContain("Application");

    await report("first", built(COMMIT, { status: "success" }));
    expect(commitOf(await world.expectPhase("first", "ready"))).toBe(COMMIT);
  }, 60_000);
});

describe("another commit that is being built", () => {
  test("leaves what runs alone, which is repaired and changed meanwhile", async () => {
    await building("standing");
    expect(await imageOf("standing")).toBe(imageIs(COMMIT));
    const former = await world.admin.find(applicationKind, applicationRef("standing"));
    await world.admin.delete(applicationKind, applicationRef("standing"), { uid: former?.metadata.uid ?? "" });
    await until(async () => (await imageOf("standing")) === imageIs(COMMIT), {
      what: "the repair",
      deadlineMs: 20_000,
    });
    await report("standing", { ...built(NEXT), overrides: { backend: { replicas: 3 } } });
    const isScaled = async () => (await applicationValues(world.admin, "standing"))?.backend.replicas === 3;
    await until(isScaled, { what: "the override", deadlineMs: 20_000 });
    expect(await imageOf("standing")).toBe(imageIs(COMMIT));
    expect((await world.find("standing"))?.status?.phase).toBe("building");

    await report("standing", built(NEXT, { status: "success" }));
    expect(commitOf(await world.expectPhase("standing", "ready"))).toBe(NEXT);
    expect(await imageOf("standing")).toBe(imageIs(NEXT));
  }, 60_000);

  test("is waited for also when another commit's pipeline is reported meanwhile", async () => {
    await building("beside");
    const other = built(OTHER, { id: 8, status: "success" });
    const reported: EnvironmentSpec = { backend: { ...other.backend, commit: NEXT } };
    await expect(report("beside", reported)).rejects.toMatchObject({
      causes: [{ message: expect.stringContaining("another commit's can't take its place") }],
    });
    expect((await world.reconcile("beside")).status?.phase).toBe("building");
    expect(await imageOf("beside")).toBe(imageIs(COMMIT));

    await report("beside", built(NEXT, { status: "success" }));
    expect(commitOf(await world.expectPhase("beside", "ready"))).toBe(NEXT);
  }, 60_000);

  test("fails the environment with its pipeline, and is built when that is run again", async () => {
    await building("again");
    await report("again", built(NEXT, { status: "failed" }));
    const failed = await world.expectPhase("again", "failed");
    const ready = findCondition(failed.status?.conditions, "Ready");
    expect(ready).toMatchObject({ status: "False", reason: "PipelineFailed" });
    expect(ready?.message).toMatch(/pipeline 7 of g\/shop failed .*https:\/\/ci\.example\.test\/7/);
    expect(await imageOf("again")).toBe(imageIs(COMMIT));
    expect(commitOf(failed)).toBe(COMMIT);

    await report("again", built(NEXT));
    await world.expectPhase("again", "building");
    await report("again", built(NEXT, { status: "success" }));
    expect(commitOf(await world.expectPhase("again", "ready"))).toBe(NEXT);
  }, 60_000);

  test("fails nothing any more when the former one is wanted again", async () => {
    await building("taken-back");
    await report("taken-back", built(NEXT, { status: "canceled" }));
    await world.expectPhase("taken-back", "failed");
    await world.admin.patch(
      environmentType,
      { name: "taken-back" },
      { spec: { backend: { commit: COMMIT } } },
      { as: "merge" },
    );
    expect(commitOf(await world.expectPhase("taken-back", "ready"))).toBe(COMMIT);
  }, 60_000);

  test("is deployed when its pipeline has said nothing for two hours, which is shown", async () => {
    await world.create("silent");
    await world.expectPhase("silent", "ready");
    await report("silent", built(NEXT, { at: new Date(Date.now() - 2 * 3_600_000 - 1_000).toISOString() }));
    const deployed = await world.expectState(
      "silent",
      "running the commit",
      (found) => found.status?.phase === "ready" && commitOf(found) === NEXT,
    );
    expect(findCondition(deployed.status?.conditions, "PipelineSilent")?.status).toBe("True");
  }, 60_000);
});

describe("a report that comes late", () => {
  test.each([
    ["of an older pipeline", { id: 6 }, "a newer pipeline of this project is recorded already"],
    ["of a pipeline that succeeded meanwhile", { status: "failed" }, "the success of a pipeline is final"],
  ] as const)(
    "%s is refused, and changes nothing",
    async (what, late, words) => {
      const name = what.replaceAll(" ", "-");
      await world.create(name, built(COMMIT, { status: "success" }));
      const before = await world.expectPhase(name, "ready");
      await expect(report(name, built(COMMIT, { status: "running", ...late }))).rejects.toMatchObject({
        causes: [{ message: expect.stringContaining(words) }],
      });
      const after = await world.reconcile(name);
      expect(after.spec).toEqual(before.spec);
      expect(after.status?.phase).toBe("ready");
    },
    60_000,
  );

  test("of a commit that is not wanted is recorded, and changes nothing", async () => {
    await world.create("unmoved", built(COMMIT, { status: "success" }));
    const before = await world.expectPhase("unmoved", "ready");
    const spec = { backend: { pipelines: built(NEXT, { id: 8, status: "failed" }).backend.pipelines } };
    await world.admin.patch(environmentType, { name: "unmoved" }, { spec }, { as: "merge" });
    const after = await world.reconcile("unmoved");
    expect(after.spec.backend.pipelines?.map(({ id }) => id)).toEqual([8]);
    expect(after.status).toMatchObject({ phase: "ready", desiredHash: before.status?.desiredHash });
  }, 60_000);
});
