import { beforeEach, describe, expect, test } from "@jest/globals";
import { done, failed, waiting } from "../../../../../../operator/controllers/environment/step-result.ts";
import { secretKind } from "../../../../../../operator/kit/client/kinds.ts";
import { BeingDeleted, type ObservedObject } from "../../../../../../operator/ports/cluster.ts";
import { environmentFixture } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { MADE, podSecrets, pulledImages, ref } from "./pulled-images.ts";

const world = pulledImages();
const { store, named, pass, runs, contents, held } = world;

const questions = () => world.cluster.looks(secretKind) + world.secretManager.looks.length;

describe("the Secret of image pulls", () => {
  test("is made beside that of the pods, and what that found stays", async () => {
    const findings = { podSecrets };
    expect(await pass({ result: done("Mirrored", { findings, requeueAfterMs: 7 }) })).toEqual(
      done("Mirrored", { findings: { podSecrets, pullSecret: MADE }, requeueAfterMs: 7 }),
    );
    expect(held()).toBe("reader:one");
  });

  test.each([
    { name: "that of the pods is awaited", given: { result: waiting("AwaitingValue", "", { requeueAfterMs: 1 }) } },
    { name: "that of the pods was never made", given: { result: failed("SecretsMissing", "") }, podSecrets: [] },
  ])("is not made while $name", async ({ given, ...before }) => {
    world.status = { ...world.status, ...before };
    expect(await pass(given)).toEqual(given.result);
    expect(questions()).toBe(0);
  });

  test("is trusted to be as it was made, without a read", async () => {
    await pass();
    const before = questions();
    await pass();
    expect(questions()).toBe(before);
  });

  test("costs nothing where no Repository needs it", async () => {
    named();
    expect((await pass({ isCheckDue: true })).findings).toBeUndefined();
    expect(questions()).toBe(0);
  });

  test("is made when its Repository begins to name a credential", async () => {
    named();
    await pass();
    named("shop");
    await pass();
    expect(held()).toBe("reader:one");
  });

  test("is restored at a check", async () => {
    await pass();
    await world.cluster.remove({ name: "shop", uid: environmentFixture().metadata.uid }, secretKind, ref);
    await pass({ isCheckDue: true });
    expect(held()).toBe("reader:one");
  });

  test("follows the secret manager at a check, and the status is the same as before", async () => {
    await pass();
    store("reader:two");
    await pass({ isCheckDue: true });
    expect(held()).toBe("reader:two");
    expect(world.status.pullSecret).toEqual(MADE);
  });

  test("is found by the next reconcile after a crash, and not made twice", async () => {
    await pass();
    world.status = { podSecrets };
    const [made] = world.cluster.list();
    await pass();
    expect(world.cluster.list()).toEqual([made]);
    expect(world.status.pullSecret).toEqual(MADE);
  });

  test("goes when no Repository needs it any more, once, and after the pods that named it", async () => {
    await pass();
    named();
    await pass({ isCheckDue: true });
    expect(held()).toBe("reader:one");
    await runs();
    expect(held()).toBeUndefined();
    expect(world.status.pullSecret).toEqual([]);
    const before = questions();
    await pass({ isCheckDue: true });
    await runs();
    expect(questions()).toBe(before);
  });

  test("deletes nothing that another leader put in its place meanwhile", async () => {
    await pass();
    store("reader:two");
    const { read } = world.cluster;
    const stale = await read(environmentFixture().metadata, secretKind, ref);
    await pass({ isCheckDue: true });
    world.cluster.read = async () => stale;
    store("reader:three");
    expect(await pass({ isCheckDue: true })).toMatchObject({ state: "waiting", reason: "BeingDeleted" });
    expect(held()).toBe("reader:two");
    world.cluster.read = read;
    await pass({ isCheckDue: true });
    expect(held()).toBe("reader:three");
  });

  test("stays when its Repository is missing", async () => {
    await pass();
    world.repositories.drop("shop-api");
    await pass({ isCheckDue: true });
    expect(held()).toBe("reader:one");
    expect(world.status.pullSecret).toEqual(MADE);
  });
});

describe("when its Repository moves", () => {
  const MOVED = "other.test/shop-api";
  beforeEach(async () => {
    world.secretManager.share({ id: "other", labels: {}, values: ["other:one"] });
    await pass();
    await runs();
    named("other", MOVED);
  });

  test("what the pods of before pull with stays until those of now run", async () => {
    await pass();
    expect(contents()).toEqual({ "registry.test": "reader:one", "other.test": "other:one" });
    expect(world.status.pullSecret).toEqual([{ registry: "other.test", source: "other@latest" }, ...MADE]);
    await runs();
    expect(held()).toBe("reader:one");
    await runs(MOVED);
    expect(contents()).toEqual({ "other.test": "other:one" });
    expect(world.status.pullSecret).toEqual([{ registry: "other.test", source: "other@latest" }]);
    const before = questions();
    await pass();
    await runs(MOVED);
    expect(questions()).toBe(before);
  });

  test("what another operator makes in between is not taken for what was to be made", async () => {
    await pass();
    const { metadata } = environmentFixture();
    const before = (await world.cluster.read(metadata, secretKind, ref)) as ObservedObject;
    const { remove } = world.cluster;
    world.cluster.remove = async (...which) => {
      const removal = await remove(...which);
      await world.cluster.ensure(metadata, secretKind, before);
      return removal;
    };
    await expect(runs(MOVED)).rejects.toThrow(BeingDeleted);
    expect(world.status.pullSecret).toHaveLength(2);
    world.cluster.remove = remove;
    await runs(MOVED);
    expect(contents()).toEqual({ "other.test": "other:one" });
  });

  test("a Secret that is missing when former pods are gone keeps its status, until a check restores it", async () => {
    await pass();
    const named = world.status.pullSecret;
    await world.cluster.remove(environmentFixture().metadata, secretKind, ref);
    await runs(MOVED);
    expect(world.status.pullSecret).toEqual(named);
    await pass({ isCheckDue: true });
    expect(contents()).toEqual({ "other.test": "other:one" });
    expect(world.status.pullSecret).toEqual([{ registry: "other.test", source: "other@latest" }]);
  });

  test("the former credential stays at a check, too, and while the new one is not available", async () => {
    world.secretManager.share({ id: "other", labels: {}, values: [] });
    expect(await pass({ isCheckDue: true })).toMatchObject({ state: "done" });
    await runs(MOVED);
    expect(contents()).toEqual({ "registry.test": "reader:one" });
    expect(world.status.pullSecret).toEqual(MADE);
  });
});
