import { afterEach, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../../crds/sensitive.ts";
import type { RepositoryHooks } from "../../../operator/ports/webhooks/repository-hooks.ts";

/** An adapter with a host that has one repository without hooks. */
export interface HooksWorld {
  readonly hooks: RepositoryHooks;
  /** Sets the platform's answer to deliveries; `undefined` for a host that does not show it. */
  readonly answerWith: ((status: number) => void) | undefined;
  stop(): Promise<void>;
}

const repository = { host: "git", fullName: "shop/shop-api" };
const address = "https://environments.example.test/api/webhooks/repohost";
const key = new Sensitive("a-key-of-thirty-two-bytes-or-more");
const { signal } = new AbortController();

export function repositoryHooksSuite(name: string, makeWorld: () => Promise<HooksWorld>): void {
  describe(`RepositoryHooks: ${name}`, () => {
    let world: HooksWorld | undefined;
    afterEach(() => world?.stop());
    const made = async () => {
      world = await makeWorld();
      return world;
    };

    test("a repository without hooks has none", async () => {
      const { hooks } = await made();
      expect(await hooks.list(repository, signal)).toEqual([]);
    });

    test("the wanted hook is active and without fault, once", async () => {
      const { hooks } = await made();
      for (let time = 0; time < 2; time++) {
        await hooks.put(repository, { address, key }, signal);
        const list = await hooks.list(repository, signal);
        expect(list).toMatchObject([{ url: address, state: "active", faults: [] }]);
        expect(list[0]?.events).toContain(name.includes("GitLab") ? "push_events" : "push");
      }
    }, 60_000);

    test("hooks of other addresses stay", async () => {
      const { hooks } = await made();
      const other = `${address}/another`;
      await hooks.put(repository, { address: other, key }, signal);
      const [before] = await hooks.list(repository, signal);
      await hooks.put(repository, { address, key }, signal);
      const list = await hooks.list(repository, signal);
      expect(list.map(({ url }) => url)).toEqual([other, address]);
      expect(list[0]).toEqual(before);
    }, 60_000);

    test("the last delivery of the wanted hook is known where the host shows it", async () => {
      const { hooks, answerWith } = await made();
      await hooks.put(repository, { address, key }, signal);
      const [hook] = await hooks.list(repository, signal);
      const last = () => hooks.lastDelivery(repository, hook?.id ?? "", signal);
      if (answerWith === undefined) {
        expect(await last()).toBeUndefined();
        return;
      }
      expect(await last()).toMatchObject({ isAccepted: true, isUnauthentic: false });
      answerWith(401);
      await hooks.put(repository, { address, key }, signal);
      expect(await last()).toMatchObject({ isAccepted: false, isUnauthentic: true });
    }, 60_000);
  });
}
