import { expect, test } from "@jest/globals";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { HostUnavailable } from "../../../../crds/errors.ts";
import { DELETED_BRANCH_ANNOTATION, RECONCILE_ANNOTATION } from "../../../../crds/group.ts";
import { environmentFixture } from "../../../support/fixtures/environment/environment-fixture.ts";
import { commitOf, WebhookWorld } from "../../../support/worlds/webhook-world.ts";

const GONE = DELETED_BRANCH_ANNOTATION.backend;
const byPipeline: EnvironmentSpec["trigger"] = { kind: "pipeline", provider: "", repository: "shop-api" };
const following = { repository: "shop-api", branch: "main", follow: true };
const resolved = { sources: { backend: { resolved: { branch: "main", commit: commitOf("a") } } } };

function environment(name: string, spec: Partial<EnvironmentSpec> = {}, annotations = {}): EphemeralEnvironment {
  const metadata = { name, uid: name, annotations };
  return environmentFixture({ metadata, spec: { backend: following, ...spec }, status: resolved });
}

async function pushed(world: WebhookWorld, push: { commit?: string; deleted?: boolean }) {
  const decided = await world.decide(world.claim({ type: "push", push: { branch: "main", deleted: false, ...push } }));
  return decided.map(({ decision }) => ({
    name: "environment" in decision ? decision.environment?.metadata.name : undefined,
    done: decision.do,
    reason: decision.reason,
    ...(decision.do === "update" ? { annotations: decision.annotations } : {}),
  }));
}

test("what follows the branch reads its head again", async () => {
  const world = new WebhookWorld();
  world.put(environment("follows"));
  world.put(environment("fixed", { backend: { ...following, commit: commitOf("a") } }));
  world.put(environment("elsewhere", { backend: { ...following, branch: "other" } }));
  expect(await pushed(world, { commit: commitOf("b") })).toEqual([
    { name: "follows", done: "update", reason: "Pushed", annotations: { [RECONCILE_ANNOTATION]: expect.any(String) } },
    { name: "fixed", done: "nothing", reason: "UpToDate" },
  ]);
});

test("a commit that is known, and a branch of no environment, change nothing", async () => {
  const world = new WebhookWorld();
  expect(await pushed(world, { commit: commitOf("a") })).toMatchObject([{ done: "nothing", reason: "NoEnvironment" }]);
  world.put(environment("follows"));
  expect(await pushed(world, { commit: commitOf("a") })).toMatchObject([{ done: "nothing", reason: "UpToDate" }]);
});

test("a deleted branch deletes the environments of its pipelines; others are warned", async () => {
  const world = new WebhookWorld();
  world.put(environment("made", { trigger: byPipeline }));
  world.put(environment("made-and-protected", { trigger: byPipeline, protected: true }));
  world.put(environment("made-and-kept", { trigger: byPipeline, protectedUntil: "2026-01-09T00:00:00Z" }));
  world.put(environment("made-and-fixed", { trigger: byPipeline, backend: { ...following, commit: commitOf("a") } }));
  world.put(environment("by-hand", { trigger: { kind: "api" } }));
  world.put(environment("of-another", { trigger: { ...byPipeline, repository: "other" } }));
  const reported = { done: "update", reason: "SourceGone", annotations: { [GONE]: "main" } };
  expect(await pushed(world, { deleted: true })).toEqual([
    { name: "made", done: "delete", reason: "BranchDeleted" },
    { name: "made-and-protected", done: "nothing", reason: "Protected" },
    { name: "made-and-kept", done: "nothing", reason: "Protected" },
    { name: "made-and-fixed", ...reported },
    { name: "by-hand", ...reported },
    { name: "of-another", ...reported },
  ]);
});

test("a branch that exists again is not deleted, and one that can't be asked for is decided later", async () => {
  const world = new WebhookWorld();
  world.put(environment("made", { trigger: byPipeline }));
  world.branchHeads.push("shop-api", "main", commitOf("b"));
  expect(await pushed(world, { deleted: true })).toMatchObject([{ done: "nothing", reason: "BranchExists" }]);
  world.branchHeads.setReachable(false);
  await expect(pushed(world, { deleted: true })).rejects.toThrow(HostUnavailable);
});

test("a branch that is pushed again is no longer shown as gone", async () => {
  const world = new WebhookWorld();
  world.put(environment("fixed", { backend: { ...following, commit: commitOf("a") } }, { [GONE]: "main" }));
  expect(await pushed(world, { commit: commitOf("b") })).toEqual([
    { name: "fixed", done: "update", reason: "Pushed", annotations: { [GONE]: null } },
  ]);
  expect(await pushed(world, { deleted: true })).toMatchObject([{ done: "nothing", reason: "SourceGone" }]);
});
