import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { PODS_ENDED_ANNOTATION } from "../../../crds/group.ts";
import { namespaceName } from "../../../crds/names.ts";
import type { Owner } from "../../../operator/ports/cluster.ts";
import type { NamespaceContents } from "../../../operator/ports/namespace-contents.ts";
import { until } from "../../support/fixtures/until.ts";
import { unique } from "../../support/plane/people.ts";

/** The contents of a namespace, with foreign changes. */
export interface ContentsScene {
  readonly contents: NamespaceContents;
  makeNamespace(name: string): Promise<void>;
  /** Creates a namespace that is an environment's by its label. */
  makeOwnedNamespace(name: string, owner: Owner): Promise<void>;
  annotationsOf(namespace: string): Promise<Readonly<Record<string, string>>>;
  versionOf(namespace: string): Promise<string | undefined>;
  /** Makes lists of this kind fail with 503; returns a function that ends it. */
  overload(kind: string): () => void;
  /** Creates a ConfigMap with these finalizers. */
  makeConfigMap(ref: { name: string; namespace: string }, finalizers: readonly string[]): Promise<void>;
  /** The finalizers of a ConfigMap; `undefined` when it is gone. */
  finalizersOf(ref: { name: string; namespace: string }): Promise<readonly string[] | undefined>;
  /** Requests its deletion, as another user. */
  deleteConfigMap(ref: { name: string; namespace: string }): Promise<void>;
  /**
   * An admin's admission policy refuses every change of it with 422, in a sentence with this word; returns a function that
   * ends it.
   */
  refuseChanges(ref: { name: string; namespace: string }, word: string): Promise<() => Promise<void>>;
  /** Creates a pod that runs on a node. */
  makePod(ref: { name: string; namespace: string }, graceSeconds: number): Promise<void>;
  /** Requests its deletion, as another user. */
  deletePod(ref: { name: string; namespace: string }): Promise<void>;
  /** The grace period of a pod in deletion. */
  graceOf(ref: { name: string; namespace: string }): Promise<number | undefined>;
  /** Creates a claim with a volume with this reclaim policy and these annotations; returns the volume's UID. */
  makeVolume(
    claim: { name: string; namespace: string },
    volume: string,
    policy: string,
    annotations?: Record<string, string>,
  ): Promise<string>;
  policyOf(volume: string): Promise<string | undefined>;
  stop(): Promise<void>;
}

const KEPT = "example.test/kept";
const REMOVABLE = "example.test/removable";

export function namespaceContentsSuite(name: string, start: () => Promise<ContentsScene>): void {
  describe(`the contents of a namespace, ${name}`, () => {
    let scene: ContentsScene;
    beforeAll(async () => {
      scene = await start();
    }, 60_000);
    afterAll(() => scene.stop());

    async function given(): Promise<{ owner: Owner; namespace: string }> {
      const owner = { name: unique("shop-"), uid: randomUUID() };
      const namespace = namespaceName(owner.name);
      await scene.makeNamespace(namespace);
      return { owner, namespace };
    }
    const configMapsOf = async (owner: Owner) =>
      (await scene.contents.list(owner)).contents.filter(
        ({ kind, name: found }) => kind.kind === "ConfigMap" && found.startsWith("a-"),
      );

    test("lists all objects with their finalizers, and nothing of a namespace that is not there", async () => {
      const { owner, namespace } = await given();
      await scene.makeConfigMap({ name: "a-free", namespace }, []);
      await scene.makeConfigMap({ name: "a-held", namespace }, [KEPT, REMOVABLE]);
      const found = (await configMapsOf(owner)).map(({ name: called, finalizers }) => ({ called, finalizers }));
      expect(found).toEqual([
        { called: "a-free", finalizers: [] },
        { called: "a-held", finalizers: [KEPT, REMOVABLE] },
      ]);
      const none = await scene.contents.list({ name: unique("none-"), uid: randomUUID() });
      expect(none).toEqual({ contents: [], isComplete: true });
    });

    test("says that it does not know everything while an API is overloaded, and lists the rest", async () => {
      const { owner, namespace } = await given();
      await scene.makeConfigMap({ name: "a-held", namespace }, [KEPT]);
      await scene.makePod({ name: "seen", namespace }, 5);
      const end = scene.overload("ConfigMap");
      const { contents, isComplete } = await scene.contents.list(owner);
      expect(isComplete).toBe(false);
      const kinds = contents.map(({ kind }) => kind.kind);
      expect(kinds).toContain("Pod");
      expect(kinds).not.toContain("ConfigMap");
      end();
      expect((await scene.contents.list(owner)).isComplete).toBe(true);
      expect(await configMapsOf(owner)).toHaveLength(1);
    });

    test("marks the owner's namespace once, and no other", async () => {
      const owner = { name: unique("shop-"), uid: randomUUID() };
      const namespace = namespaceName(owner.name);
      await scene.makeOwnedNamespace(namespace, owner);
      await scene.contents.announcePodsEnded({ ...owner, uid: randomUUID() });
      expect(await scene.annotationsOf(namespace)).not.toHaveProperty([PODS_ENDED_ANNOTATION]);
      await scene.contents.announcePodsEnded(owner);
      const at = (await scene.annotationsOf(namespace))[PODS_ENDED_ANNOTATION];
      expect(new Date(at ?? "").toISOString()).toBe(at);
      const version = await scene.versionOf(namespace);
      await scene.contents.announcePodsEnded(owner);
      expect(await scene.versionOf(namespace)).toBe(version);
      await scene.contents.announcePodsEnded({ name: unique("none-"), uid: randomUUID() });
    });

    test("takes off the finalizers that are named, also of an object that changed since, and none of another one", async () => {
      const { owner, namespace } = await given();
      const ref = { name: "a-held", namespace };
      await scene.makeConfigMap(ref, [KEPT, REMOVABLE]);
      const [listed] = await configMapsOf(owner);
      if (listed === undefined) throw new TypeError("the ConfigMap is not listed");
      await scene.contents.release(owner, { ...listed, uid: randomUUID(), resourceVersion: "1" }, [REMOVABLE]);
      expect(await scene.finalizersOf(ref)).toEqual([KEPT, REMOVABLE]);
      await scene.contents.release(owner, { ...listed, resourceVersion: "1", finalizers: [REMOVABLE] }, [REMOVABLE]);
      expect(await scene.finalizersOf(ref)).toEqual([KEPT]);
      expect(await scene.contents.release(owner, listed, [REMOVABLE, "example.test/none"])).toBeUndefined();
      expect(await scene.finalizersOf(ref)).toEqual([KEPT]);
      await scene.deleteConfigMap(ref);
      const [last] = await configMapsOf(owner);
      if (last === undefined) throw new TypeError("the ConfigMap went although a finalizer holds it");
      expect([listed, last].map(({ isDeleted }) => isDeleted)).toEqual([false, true]);
      await scene.contents.release(owner, last, [KEPT]);
      await until(async () => (await scene.finalizersOf(ref)) === undefined, { what: "the ConfigMap being gone" });
    });

    test("says what refuses to have finalizers taken off", async () => {
      const { owner, namespace } = await given();
      const ref = { name: "a-guarded", namespace };
      await scene.makeConfigMap(ref, [REMOVABLE]);
      const end = await scene.refuseChanges(ref, "guarded");
      const [listed] = await configMapsOf(owner);
      if (listed === undefined) throw new TypeError("the ConfigMap is not listed");
      expect(await scene.contents.release(owner, listed, [REMOVABLE])).toMatch(/guarded/);
      expect(await scene.finalizersOf(ref)).toEqual([REMOVABLE]);
      await end();
      expect(await scene.contents.release(owner, listed, [REMOVABLE])).toBeUndefined();
      expect(await scene.finalizersOf(ref)).toEqual([]);
    });

    test("ends pods: undeleted ones, and those that take longer than they may", async () => {
      const { owner, namespace } = await given();
      const patient = { name: "patient", namespace };
      const deleted = { name: "deleted", namespace };
      const quick = { name: "quick", namespace };
      await scene.makePod(patient, 3600);
      await scene.makePod(deleted, 3600);
      await scene.makePod(quick, 5);
      await scene.deletePod(deleted);
      expect(await scene.graceOf(deleted)).toBe(3600);
      expect(await scene.contents.endPods(owner, 25)).toBe(3);
      expect(await scene.graceOf(patient)).toBe(25);
      expect(await scene.graceOf(quick)).toBe(5);
      const graceNow = (await scene.graceOf(deleted)) ?? 0;
      expect(graceNow).toBeGreaterThan(0);
      expect(graceNow).toBeLessThanOrEqual(25);
      expect(await scene.contents.endPods(owner, 25)).toBe(3);
      expect(await scene.graceOf(patient)).toBe(25);
    });

    test("finds the volumes that outlive their claims, and has one go with its claim", async () => {
      const { owner, namespace } = await given();
      const [made, found, provisioned, usual] = ["a-", "b-", "c-", "d-"].map(unique) as [
        string,
        string,
        string,
        string,
      ];
      const chosen = { "pv.kubernetes.io/bound-by-controller": "yes" };
      const uid = await scene.makeVolume({ name: "made", namespace }, made, "Retain");
      await scene.makeVolume({ name: "found", namespace }, found, "Retain", chosen);
      const both = { ...chosen, "pv.kubernetes.io/provisioned-by": "example.test" };
      await scene.makeVolume({ name: "provisioned", namespace }, provisioned, "Retain", both);
      await scene.makeVolume({ name: "usual", namespace }, usual, "Delete");
      const volumes = await scene.contents.retainedVolumes(owner);
      expect(volumes.map(({ name: volume, isMadeForClaim }) => [volume, isMadeForClaim])).toEqual([
        [made, true],
        [found, false],
        [provisioned, true],
      ]);
      const anew = { name: made, uid: randomUUID(), isMadeForClaim: true };
      await expect(scene.contents.endWithClaim(anew)).rejects.toMatchObject({ status: 422 });
      expect(await scene.policyOf(made)).toBe("Retain");
      await scene.contents.endWithClaim({ ...anew, uid });
      expect(await scene.policyOf(made)).toBe("Delete");
      expect(await scene.policyOf(found)).toBe("Retain");
      await scene.contents.endWithClaim({ ...anew, name: unique("none-") });
      expect(await scene.contents.retainedVolumes({ name: unique("none-"), uid: randomUUID() })).toEqual([]);
    });
  });
}
