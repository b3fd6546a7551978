import { describe, expect, test } from "@jest/globals";
import { done, type Findings, failed } from "../../../../../../operator/controllers/environment/step-result.ts";
import { secretKind } from "../../../../../../operator/kit/client/kinds.ts";
import {
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { MADE, podSecrets, pulledImages, ref } from "./pulled-images.ts";

const world = pulledImages();
const { store, named, pass, runs, contents, held } = world;

describe("a credential that can't be had", () => {
  const away = () => world.secretManager.setReachable(false);
  const gone = () => world.secretManager.share({ id: "shop", labels: {}, values: [] });
  const elsewhere = () => named("other");
  const cases = [
    {
      name: "while the secret manager is away",
      given: away,
      expected: { state: "waiting", reason: "SecretManagerUnavailable" },
    },
    { name: "because it is gone", given: gone, expected: { state: "failed", reason: "CredentialNotFound" } },
    {
      name: "because it is another host's",
      given: elsewhere,
      expected: { state: "failed", reason: "CredentialNotBound" },
    },
  ];

  test.each(cases)(
    "$name: stops an environment of which nothing runs, and what was found stays",
    async ({ given, expected }) => {
      given();
      const findings: Findings = { podSecrets: [...podSecrets, "environment-secrets-00000002"] };
      expect(await pass({ result: done("Mirrored", { findings }) })).toMatchObject({ ...expected, findings });
      expect(contents()).toBeUndefined();
    },
  );

  test.each(cases)("$name: fails nothing that runs with it", async ({ given }) => {
    await pass();
    await runs();
    given();
    expect(await pass({ isCheckDue: true })).toMatchObject({ state: "done" });
    expect([held(), world.status.pullSecret]).toEqual(["reader:one", MADE]);
    // The Secret is deleted: its pods keep running, and it is restored when that is possible.
    await world.cluster.remove(environmentFixture().metadata, secretKind, ref);
    expect(await pass({ isCheckDue: true })).toMatchObject({ state: "done" });
    expect([held(), world.status.pullSecret]).toEqual([undefined, MADE]);
    world.secretManager.setReachable(true);
    store("reader:two");
    named("shop");
    await pass({ isCheckDue: true });
    expect(held()).toBe("reader:two");
  });

  test.each(cases)("$name: fails nothing that ran without it, without a read of the cluster", async ({ given }) => {
    await runs();
    given();
    const looks = world.cluster.looks(secretKind);
    expect(await pass()).toMatchObject({ state: "done" });
    expect([world.status.pullSecret, world.cluster.looks(secretKind) - looks]).toEqual([undefined, 0]);
  });

  test("keeps no other one from what is new", async () => {
    world.secretManager.share({ id: "other", labels: {}, values: ["other:one"] });
    const web = { type: "frontend" as const, image: { repository: "other.test/shop-web" } };
    world.repositories.put(
      repositoryFixture("shop-web", { ...web, imagePullSecretRef: { name: "other", key: "latest" } }),
    );
    world.spec = { frontend: { repository: "shop-web", branch: "main" } };
    await pass();
    world.secretManager.share({ id: "other", labels: {}, values: ["other:two"] });
    gone();
    await pass({ isCheckDue: true });
    expect(contents()).toEqual({ "registry.test": "reader:one", "other.test": "other:two" });
  });

  test("keeps the result of what failed before it", async () => {
    named("other");
    const refusal = failed("RotationUnknown", "X: no variable");
    expect(await pass({ result: refusal })).toEqual(refusal);
  });

  test("does not lose the findings of the pods' Secret when its name is taken", async () => {
    const other = { name: "else", uid: "00000000-0000-4000-8000-000000000000" };
    await world.cluster.ensure(other, secretKind, { apiVersion: "v1", kind: "Secret", metadata: ref });
    const findings = { podSecrets };
    const ended = await pass({ result: done("Mirrored", { findings }) });
    expect(ended).toMatchObject({ state: "failed", reason: "NameTaken", findings });
  });

  test("does not lose them for a transient error", async () => {
    const findings = { podSecrets };
    const cause = new Error("the connection broke");
    world.cluster.ensure = async () => {
      throw cause;
    };
    const ended = await pass({ result: done("Mirrored", { findings }) });
    expect(ended).toMatchObject({ state: "waiting", reason: "Retrying", findings });
    expect("error" in ended && ended.error).toBe(cause);
  });
});
