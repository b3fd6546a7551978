import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { HostUnavailable } from "../../../crds/errors.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { BranchHeads } from "../../../operator/ports/repository-host.ts";

/** An implementation of the port, and control of the host behind it. */
export interface BranchHeadsWorld {
  readonly branchHeads: BranchHeads;
  readonly repository: Repository;
  /** Puts a commit at the head of a branch of the repository; answers its full SHA. */
  push(branch: string): Promise<string>;
  /** Makes the host unreachable for good. */
  disconnect(): Promise<void>;
  stop(): Promise<void>;
}

export function branchHeadsSuite(name: string, start: () => Promise<BranchHeadsWorld>): void {
  describe(`${name} keeps the BranchHeads port: it`, () => {
    let world: BranchHeadsWorld;
    beforeAll(async () => {
      world = await start();
    }, 30_000);
    afterAll(() => world.stop());

    test("answers the commit at the head of the branch, also the one that was pushed just now", async () => {
      const { branchHeads, repository } = world;
      const first = await world.push("feature/a+b");
      expect(await branchHeads.headOf(repository, "feature/a+b")).toBe(first);
      const second = await world.push("feature/a+b");
      expect(second).not.toBe(first);
      expect(await branchHeads.headOf(repository, "feature/a+b")).toBe(second);
    });

    test.each(["absent", "feature", "heads/feature/a+b"])("knows no branch %s", async (branch) => {
      expect(await world.branchHeads.headOf(world.repository, branch)).toBeUndefined();
    });

    test("says when to ask again while the host can't be reached", async () => {
      await world.disconnect();
      const refusal = await world.branchHeads.headOf(world.repository, "main").catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(HostUnavailable);
      expect((refusal as HostUnavailable).retryAfterSeconds).toBeGreaterThan(0);
    });
  });
}
