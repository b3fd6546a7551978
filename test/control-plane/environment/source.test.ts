import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { type GitServer, startGitServer } from "../../support/doubles/git-server.ts";
import { FaultField } from "../../support/faults/fault-field.ts";
import { crashAt } from "../../support/faults/fault-plans.ts";
import { until } from "../../support/fixtures/until.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";

/** A branch that git allows and few tools expect. */
const MOVING = "deps/@types/node+größe#2";

let world: World;
let git: GitServer;
let head: string;
beforeAll(async () => {
  world = await createWorld();
  git = await startGitServer();
  head = await git.createRepository("shop", ["main", "other", MOVING, "followed", "next"]);
  await world.register("shop", { cloneUrl: `http://${git.address}/shop.git` });
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(async () => {
  await git.stop();
  await world.stop();
}, 60_000);

const ofBranch = (branch: string) => ({ backend: { repository: "shop", branch } });
const commitOf = ({ status }: EphemeralEnvironment) => status?.components?.backend?.commit;

async function deployedImage(name: string): Promise<unknown> {
  const application = await world.admin.find(applicationKind, { name: `env-${name}`, namespace: "argocd" });
  const spec = application?.spec as { source: { helm: { valuesObject: { backend: { image: string } } } } } | undefined;
  return spec?.source.helm.valuesObject.backend.image;
}

test("the API reads the head of a registered repository's branch", async () => {
  const { operator, stop } = await world.startOperator();
  const { repositories, branchHeads } = operator.ports;
  const repository = repositories.find("shop");
  if (repository === undefined) throw new Error("not registered");
  expect(await branchHeads.headOf(repository, "other")).toBe(head);
  expect(await branchHeads.headOf(repository, "nowhere")).toBeUndefined();
  await stop();
}, 60_000);

describe("an environment without a commit", () => {
  test("runs the head of its branch, and stays on it when the branch moves", async () => {
    const { stop } = await world.startOperator();
    await world.create("settled", ofBranch("main"));
    expect(commitOf(await world.expectPhase("settled", "ready"))).toBe(head);
    expect(await git.push("shop", "main")).not.toBe(head);
    expect(commitOf(await world.reconcile("settled"))).toBe(head);
    expect(await deployedImage("settled")).toBe(`docker.io/local/shop:${head}`);
    await stop();
  }, 60_000);

  test("stays on the commit that was deployed when the operator dies before it could say which", async () => {
    const field = new FaultField();
    field.arm("interrupted", crashAt("create Application env-NAME", "after"));
    const life = field.life();
    const victim = await world.startOperator({ onRequest: life.onRequest });
    const made = await world.create("interrupted", ofBranch(MOVING));
    const isDead = () => field.of("interrupted").isDead && life.isIdle;
    await until(isDead, { what: "the crash", deadlineMs: 30_000 });
    life.end();
    await victim.abandon();
    expect((await world.find("interrupted"))?.status).toBeUndefined();
    const deployed = await deployedImage("interrupted");

    await git.push("shop", MOVING);
    const { stop } = await world.startOperator();
    expect(commitOf(await world.expectPhase("interrupted", "ready"))).toBe(head);
    expect(await deployedImage("interrupted")).toBe(deployed);
    expect([...(await world.inventory(made)).keys()]).toContain("Application/env-interrupted");
    await stop();
  }, 60_000);

  test("moves with its branch when it follows and a user requests it, and at no other time", async () => {
    const { stop } = await world.startOperator();
    await world.create("follower", { backend: { ...ofBranch("followed").backend, follow: true } });
    expect(commitOf(await world.expectPhase("follower", "ready"))).toBe(head);
    const pushed = await git.push("shop", "followed");
    await world.admin.patch(environmentType, { name: "follower" }, { spec: { ttlHours: 48 } }, { as: "merge" });
    const extended = await world.expectState("follower", "extended", ({ status }) => status?.ttlHours === 48);
    expect(commitOf(extended)).toBe(head);
    await world.reconcile("follower");
    const isMoved = (found: EphemeralEnvironment) => found.status?.phase === "ready" && commitOf(found) === pushed;
    await world.expectState("follower", "running what was pushed", isMoved);
    expect(await deployedImage("follower")).toBe(`docker.io/local/shop:${pushed}`);
    await stop();
  }, 60_000);

  test("moves to the head of another branch, and keeps the old one while that is not there", async () => {
    const { stop } = await world.startOperator();
    await world.create("switched", ofBranch("main"));
    const first = commitOf(await world.expectPhase("switched", "ready"));
    const switchTo = (branch: string) =>
      world.admin.patch(environmentType, { name: "switched" }, { spec: ofBranch(branch) }, { as: "merge" });
    await switchTo("nowhere");
    const failed = await world.expectPhase("switched", "failed");
    expect(commitOf(failed)).toBe(first);
    expect(await deployedImage("switched")).toBe(`docker.io/local/shop:${first}`);
    const pushed = await git.push("shop", "next");
    await switchTo("next");
    expect(commitOf(await world.expectPhase("switched", "ready"))).toBe(pushed);
    await stop();
  }, 60_000);

  test("fails for a branch that is not there, and heals when the spec names one that is", async () => {
    const { stop } = await world.startOperator();
    await world.create("astray", ofBranch("mai"));
    const failed = await world.expectPhase("astray", "failed");
    const ready = failed.status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready).toMatchObject({ reason: "BranchNotFound", message: expect.stringContaining("'mai'") });
    await world.admin.patch(environmentType, { name: "astray" }, { spec: ofBranch("other") }, { as: "merge" });
    expect(commitOf(await world.expectPhase("astray", "ready"))).toBe(head);
    await stop();
  }, 60_000);
});
