import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type Settings, settingsFrom } from "../../../config/settings.ts";
import type { RepositorySpec } from "../../../crds/repository/repository.ts";
import { type GitServer, startGitServer } from "../../support/doubles/git-server.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";
import { changeRepository, expectChecked, expectReason, storeCredential } from "./repository-credentials.ts";

const GIT = "reader:pass word/1";
const BASIC = `Basic ${Buffer.from(GIT).toString("base64")}`;

let world: World;
/** Accepts the credential only; the other one accepts every request. */
let git: GitServer;
let elsewhere: GitServer;
let head: string;
let settings: Settings;
beforeAll(async () => {
  world = await createWorld();
  git = await startGitServer({ credentials: GIT });
  elsewhere = await startGitServer();
  head = await git.createRepository("shop", ["main"]);
  await elsewhere.createRepository("shop", ["main"]);
  const hostCredentials = [{ id: "shop-git", hosts: [git.address] }];
  settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });
  await storeCredential(world, "shop-git", GIT);
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(async () => {
  await Promise.all([git.stop(), elsewhere.stop()]);
  await world.stop();
}, 60_000);

const register = (name: string, spec: Partial<RepositorySpec> = {}) =>
  world.register(name, { cloneUrl: `http://${git.address}/shop.git`, ...spec });

const ofMain = (repository: string) => ({ backend: { repository, branch: "main" } });

describe("a private repository", () => {
  const credentialsRef = { name: "shop-git", key: "latest" };

  test("is checked and deployed with its credential, which its host is shown every time", async () => {
    const { stop } = await world.startOperator({ settings });
    await register("private", { credentialsRef });
    expect(await expectChecked(world, "private", "Checked")).toMatchObject({ reachable: true });
    await world.create("private-one", ofMain("private"));
    const { status } = await world.expectPhase("private-one", "ready");
    expect(status?.components?.backend?.commit).toBe(head);
    expect(new Set(git.callers)).toEqual(new Set([BASIC]));
    await stop();
  }, 60_000);

  test("says what it needs where it names none, and what is wrong with the one that it names", async () => {
    const { stop } = await world.startOperator({ settings });
    await register("unnamed");
    expect(await expectChecked(world, "unnamed", "Unreachable")).toMatchObject({
      message: expect.stringContaining("it answered 401, and was sent no credential"),
    });
    await register("unwritten", { credentialsRef: { name: "shop-git", key: "9" } });
    expect(await expectChecked(world, "unwritten", "CredentialNotFound")).toMatchObject({
      message: expect.stringContaining("the secret manager has no 'shop-git@9'"),
    });
    await storeCredential(world, "no-pair", "a-token-alone");
    const bound = [{ id: "no-pair", hosts: [git.address] }];
    await stop();
    const other = await world.startOperator({
      settings: settingsFrom({ ...testSettings, secrets: { hostCredentials: bound } }),
    });
    await register("unpaired", { credentialsRef: { name: "no-pair", key: "1" } });
    expect((await expectChecked(world, "unpaired", "CredentialInvalid")).message).not.toContain("a-token-alone");
    await other.stop();
  }, 60_000);

  test("that moves to another host loses its credential: no request is sent there, until it is back", async () => {
    const { stop } = await world.startOperator({ settings });
    await register("moving", { credentialsRef });
    await expectChecked(world, "moving", "Checked");
    await changeRepository(world, "moving", { cloneUrl: `http://${elsewhere.address}/shop.git` });
    const { message } = await expectChecked(world, "moving", "CredentialNotBound");
    expect(message).toContain(`the settings bind no credential 'shop-git' to ${elsewhere.address}`);
    await world.create("moved", ofMain("moving"));
    expect(await expectReason(world, "moved", ["SourceResolved", "CredentialNotBound"])).toMatchObject({
      phase: "failed",
      status: "False",
      message: expect.stringContaining("Repository 'moving'"),
    });
    expect(elsewhere.callers).toEqual([]);

    await changeRepository(world, "moving", { cloneUrl: `http://${git.address}/shop.git` });
    await world.expectPhase("moved", "ready");
    await changeRepository(world, "moving", { cloneUrl: `http://${elsewhere.address}/shop.git`, credentialsRef: null });
    await until(() => elsewhere.callers.length > 0, { what: "a question without a credential", deadlineMs: 30_000 });
    expect(new Set(elsewhere.callers)).toEqual(new Set([undefined]));
    await stop();
  }, 60_000);
});
