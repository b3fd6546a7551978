import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ENVIRONMENT_UID_LABEL } from "../../../crds/group.ts";
import { namespaceKind } from "../../../operator/kit/client/kinds.ts";
import { BeingDeleted, type Cluster, NameTaken, type Owner } from "../../../operator/ports/cluster.ts";
import { configMaps } from "../../support/fixtures/config-maps.ts";
import { unique } from "../../support/plane/people.ts";

export interface ClusterScene {
  readonly cluster: Cluster;
  /** Sets the finalizers of a ConfigMap; without any, one in deletion disappears. */
  hold(ref: { name: string; namespace: string }, finalizers: readonly string[]): Promise<void>;
  /** Creates a namespace of the owner's, as only the platform may, and answers its name. */
  home(owner: Owner): Promise<string>;
  stop(): Promise<void>;
}

const namespace = "default";
const newOwner = (): Owner => ({ name: unique("shop-"), uid: randomUUID() });
const desired = (name: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace },
  data: { KEY: "value" },
});

export function clusterSuite(name: string, start: () => Promise<ClusterScene>): void {
  describe(`a cluster, ${name}`, () => {
    let scene: ClusterScene;
    let cluster: Cluster;
    beforeAll(async () => {
      scene = await start();
      ({ cluster } = scene);
    }, 60_000);
    afterAll(() => scene.stop());

    async function given(owner = newOwner()) {
      const ref = { name: owner.name, namespace };
      expect(await cluster.ensure(owner, configMaps, desired(owner.name))).toBe("created");
      return { owner, ref };
    }

    test("makes an object once, labelled as its owner's", async () => {
      const { owner, ref } = await given();
      const first = await cluster.read(owner, configMaps, ref);
      expect(first?.metadata.labels).toMatchObject({ [ENVIRONMENT_UID_LABEL]: owner.uid });
      expect(await cluster.ensure(owner, configMaps, desired(owner.name))).toBe("unchanged");
      expect((await cluster.read(owner, configMaps, ref))?.metadata.uid).toBe(first?.metadata.uid);
      await cluster.remove(owner, configMaps, ref);
    });

    test("neither takes nor shows nor removes a foreign object", async () => {
      const { owner, ref } = await given();
      const other = { name: owner.name, uid: randomUUID() };
      await expect(cluster.ensure(other, configMaps, desired(owner.name))).rejects.toThrow(NameTaken);
      expect(await cluster.read(other, configMaps, ref)).toBeUndefined();
      expect(await cluster.remove(other, configMaps, ref)).toEqual({ state: "gone" });
      expect(await cluster.read(owner, configMaps, ref)).toBeDefined();
      await cluster.remove(owner, configMaps, ref);
    });

    test("takes over what is there, in a namespace of its owner's and nowhere else", async () => {
      const [owner, other] = [newOwner(), newOwner()];
      const home = await scene.home(owner);
      const contested = { ...desired("any"), metadata: { name: "any", namespace: home } };
      await cluster.ensure(other, configMaps, contested);
      await expect(cluster.adopt(other, configMaps, contested)).rejects.toThrow(NameTaken);
      const before = await cluster.read(other, configMaps, contested.metadata);
      expect(await cluster.adopt(owner, configMaps, contested)).toBe("written");
      const after = await cluster.read(owner, configMaps, contested.metadata);
      expect(after?.metadata.uid).toBe(before?.metadata.uid);
      const anew = { ...contested, metadata: { ...contested.metadata, name: "anew" } };
      expect(await cluster.adopt(owner, configMaps, anew)).toBe("written");
      expect(await cluster.read(owner, configMaps, anew.metadata)).toBeDefined();
      for (const one of [contested, anew]) await cluster.remove(owner, configMaps, one.metadata);
      await cluster.remove(owner, namespaceKind, { name: home });
    });

    test("writes over what it wrote, of whichever owner, and discards only what is the owner's, unread", async () => {
      const [former, owner] = [newOwner(), newOwner()];
      const ref = { name: owner.name, namespace };
      const dataOf = async (of: Owner) => (await cluster.read(of, configMaps, ref))?.data;
      const withData = (data: object) => ({ ...desired(owner.name), data });
      await cluster.overwrite(former, configMaps, withData({ KEY: "former", OLD: "yes" }));
      expect(await dataOf(former)).toEqual({ KEY: "former", OLD: "yes" });
      await cluster.overwrite(owner, configMaps, withData({ KEY: "value" }));
      expect(await dataOf(owner)).toEqual({ KEY: "value" });
      expect(await cluster.discard(former, configMaps, ref)).toEqual({ state: "gone" });
      expect(await dataOf(owner)).toEqual({ KEY: "value" });
      for (const _again of [1, 2]) expect(await cluster.discard(owner, configMaps, ref)).toEqual({ state: "gone" });
      expect(await dataOf(owner)).toBeUndefined();
    });

    test("removes, and finds it gone however often it is asked", async () => {
      const { owner, ref } = await given();
      for (const _again of [1, 2]) expect(await cluster.remove(owner, configMaps, ref)).toEqual({ state: "gone" });
      expect(await cluster.read(owner, configMaps, ref)).toBeUndefined();
    });

    test("removes exactly what was seen, where that is said: neither another of its name nor what changed since", async () => {
      const { owner, ref } = await given();
      const former = await cluster.read(owner, configMaps, ref);
      await cluster.remove(owner, configMaps, ref);
      await given(owner);
      const seen = await cluster.read(owner, configMaps, ref);
      await scene.hold(ref, ["example.test/one"]);
      for (const one of [former, seen]) {
        expect(await cluster.remove(owner, configMaps, ref, one)).toMatchObject({ state: "removing" });
      }
      await scene.hold(ref, []);
      const last = await cluster.read(owner, configMaps, ref);
      expect(last?.metadata.deletionTimestamp).toBeUndefined();
      expect(await cluster.remove(owner, configMaps, ref, last)).toEqual({ state: "gone" });
      expect(await cluster.remove(owner, configMaps, ref, last)).toEqual({ state: "gone" });
    });

    test("changes single fields, all or none: of this very object, as it is tested", async () => {
      const { owner, ref } = await given();
      const replaced = { op: "replace", path: "/data/KEY", value: "other" } as const;
      const tested = (value: string) => ({ op: "test", path: "/data/KEY", value }) as const;
      const dataOf = async () => (await cluster.read(owner, configMaps, ref))?.data;
      expect(await cluster.change(owner, configMaps, ref, [tested("wrong"), replaced])).toBe("overtaken");
      const other = { name: owner.name, uid: randomUUID() };
      expect(await cluster.change(other, configMaps, ref, [replaced])).toBe("overtaken");
      expect(await dataOf()).toEqual({ KEY: "value" });
      expect(await cluster.change(owner, configMaps, ref, [tested("value"), replaced])).toBe("changed");
      expect(await dataOf()).toEqual({ KEY: "other" });
      await cluster.remove(owner, configMaps, ref);
      expect(await cluster.change(owner, configMaps, ref, [replaced])).toBe("overtaken");
    });

    test("says that it is being deleted in words that stay, and what holds it beside them", async () => {
      const { owner, ref } = await given();
      const looks = [];
      for (const finalizer of ["example.test/one", "example.test/two"]) {
        // Finalizers can't be added during a deletion: both exist from the beginning, and one is removed.
        if (looks.length === 0) await scene.hold(ref, ["example.test/one", "example.test/two"]);
        else await scene.hold(ref, [finalizer]);
        looks.push(await cluster.remove(owner, configMaps, ref));
      }
      const message = `ConfigMap '${ref.name}' is being deleted`;
      const blocker = (reason: string) => ({ kind: "ConfigMap", name: ref.name, reason, message: expect.any(String) });
      expect(looks).toEqual([
        { state: "removing", message, blockers: ["example.test/one", "example.test/two"].map(blocker) },
        { state: "removing", message, blockers: [blocker("example.test/two")] },
      ]);
      await expect(cluster.ensure(owner, configMaps, desired(owner.name))).rejects.toThrow(BeingDeleted);
      await scene.hold(ref, []);
      expect(await cluster.remove(owner, configMaps, ref)).toEqual({ state: "gone" });
    });
  });
}
