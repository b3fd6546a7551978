import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { pullRequestKey } from "../../../crds/environment/environment-record.ts";
import {
  type WebhookDelivery,
  type WebhookDeliverySpec,
  type WebhookDeliveryStatus,
  waitingKeyOf,
} from "../../../crds/webhooks/webhook-delivery.ts";
import type { WebhookDeliveries } from "../../../operator/ports/webhooks/webhook-deliveries.ts";
import { webhookDeliveryFixture } from "../../support/fixtures/webhooks/webhook-fixture.ts";

export interface WebhookDeliveriesWorld {
  readonly deliveries: WebhookDeliveries;
  stop(): Promise<void>;
}

const WORLD_DEADLINE_MS = 60_000;
const ACTED: WebhookDeliveryStatus = {
  phase: "acted",
  reason: "Qualifies",
  message: "environment 'x' is created",
  environments: [{ name: "x", uid: "1", action: "created" }],
  trace: [{ rule: "enabled", passed: true }],
};

const some = () => randomBytes(20).toString("hex");
const specOf = (more: Partial<WebhookDeliverySpec> = {}) => webhookDeliveryFixture(some(), more).spec;
const pullRequest = (number: number, headCommit = "a".repeat(40)): WebhookDeliverySpec["event"] => ({
  type: "pull_request",
  pullRequest: {
    number,
    action: "opened",
    state: "open",
    merged: false,
    draft: false,
    labels: ["preview"],
    isFork: false,
    headRef: "feature",
    headCommit,
    baseRef: "main",
    updatedAt: "2026-06-01T12:00:00Z",
  },
});

export function webhookDeliveriesSuite(title: string, makeWorld: () => Promise<WebhookDeliveriesWorld>): void {
  describe(`WebhookDeliveries: ${title}`, () => {
    let world: WebhookDeliveriesWorld;
    beforeAll(async () => {
      world = await makeWorld();
    }, WORLD_DEADLINE_MS);
    afterAll(() => world.stop(), WORLD_DEADLINE_MS);

    const claim = async (more: Partial<WebhookDeliverySpec> = {}, name = some()): Promise<WebhookDelivery> => {
      const { state, delivery } = await world.deliveries.claim(name, specOf(more));
      expect(state).toBe("claimed");
      return delivery;
    };
    const names = (found: readonly WebhookDelivery[]) => found.map(({ metadata }) => metadata.name);

    test("what was claimed is known at once, listed, and pending", async () => {
      const made = await claim({ eventName: "push", message: "hello" });
      const { name } = made.metadata;
      expect(made).toMatchObject({
        metadata: { uid: expect.any(String) },
        spec: { eventName: "push", message: "hello" },
      });
      expect(world.deliveries.find(name)).toMatchObject({ metadata: { uid: made.metadata.uid }, spec: made.spec });
      expect(names(world.deliveries.list())).toContain(name);
      expect(names(world.deliveries.pending())).toContain(name);
      expect(world.deliveries.find(some())).toBeUndefined();
    });

    test("a name is claimed once, however many try at a time", async () => {
      const [name, spec] = [some(), specOf()];
      const claims = await Promise.all([1, 2, 3, 4].map(() => world.deliveries.claim(name, spec)));
      expect(claims.filter(({ state }) => state === "claimed")).toHaveLength(1);
      expect(new Set(claims.map(({ delivery }) => delivery.metadata.uid)).size).toBe(1);
      const other = await world.deliveries.claim(name, specOf({ digest: "f".repeat(64) }));
      expect(other).toMatchObject({ state: "taken", delivery: { spec: { digest: spec.digest } } });
    });

    test("its outcome is stored once on the version that was read, and ends its waiting unless it is pending", async () => {
      const made = await claim();
      const { name } = made.metadata;
      expect(await world.deliveries.finish(made, { phase: "pending", reason: "Waits", message: "" })).toBe("stored");
      expect(names(world.deliveries.pending())).toContain(name);
      expect(await world.deliveries.finish(made, ACTED)).toBe("changed");
      const waiting = world.deliveries.find(name);
      expect(waiting?.status?.reason).toBe("Waits");
      expect(await world.deliveries.finish(waiting ?? made, ACTED)).toBe("stored");
      expect(world.deliveries.find(name)?.status).toEqual(ACTED);
      expect(names(world.deliveries.pending())).not.toContain(name);
    });

    test("undecided ones are found by Repository; what waits, and the end of a pull request, is none of them", async () => {
      const repository = `repo-${some().slice(0, 8)}`;
      const repositories = [repository];
      const made = await claim({ repositories });
      const waiting = await claim({ repositories, event: pullRequest(7) });
      const { pullRequest: opened } = pullRequest(7);
      if (opened === undefined) throw new Error("no pull request");
      await claim({ repositories, event: { type: "pull_request", pullRequest: { ...opened, state: "closed" } } });
      const finished = await claim({ repositories });
      await world.deliveries.finish(finished, ACTED);
      expect(names(world.deliveries.undecided(repository)).sort()).toEqual(names([made, waiting]).sort());
      expect(names(world.deliveries.undecided())).toEqual(expect.arrayContaining(names([made, waiting])));

      const key = waitingKeyOf(waiting) ?? "";
      expect(world.deliveries.waitingFor(key)).toEqual([]);
      const waitsSince = "2026-06-01T12:00:00.000Z";
      await world.deliveries.finish(waiting, { phase: "pending", reason: "NameTerminating", message: "", waitsSince });
      expect(names(world.deliveries.undecided(repository))).toEqual(names([made]));
      expect(names(world.deliveries.waitingFor(key))).toEqual(names([waiting]));
    });

    test("those of a pull request are found, events and approvals, under each of their Repositories", async () => {
      const [one, other] = [`repo-${some().slice(0, 8)}`, `repo-${some().slice(0, 8)}`];
      const event = await claim({ host: "lab", repositories: [one, other], event: pullRequest(7) });
      const approval = { number: 7, commit: "a".repeat(40), by: "mai@example.test" };
      const approved = await claim({
        host: "lab",
        source: "approval",
        repositories: [one],
        event: { type: "approval", approval },
      });
      await claim({ host: "lab", repositories: [one], event: pullRequest(8) });
      const of = (repository: string, host = "lab") =>
        names(world.deliveries.ofPullRequest(pullRequestKey(host, repository, 7)));
      expect(of(one).sort()).toEqual(names([event, approved]).sort());
      expect(of(other)).toEqual(names([event]));
      expect(of(one, "")).toEqual([]);
    });

    test("those of a deduplication key are found", async () => {
      const deduplicationKey = some();
      const made = [await claim({ deduplicationKey }), await claim({ deduplicationKey })];
      await claim({ deduplicationKey: some() });
      expect(names(world.deliveries.byDeduplicationKey(deduplicationKey)).sort()).toEqual(names(made).sort());
    });

    test("those of a commit are found: its pipelines and merge groups", async () => {
      const [one, other] = [some(), some()];
      const report = (commit: string) => {
        const pipeline = {
          project: "shop/shop",
          id: 4,
          commit,
          status: "success",
          at: "2026-01-01T00:00:00Z",
        } as const;
        return claim({ event: { type: "pipeline", pipeline } });
      };
      const group = { commit: one, branch: "queue/main", baseRef: "main" };
      const queued = await claim({ event: { type: "merge_group", mergeGroup: group } });
      const made = [await report(one), await report(one), queued];
      await report(other);
      await claim({ event: pullRequest(9) });
      const head = await claim({ event: pullRequest(10, one) });
      made.push(head);
      expect(names(world.deliveries.ofCommit(one)).sort()).toEqual(names(made).sort());
    });

    test("what was removed is gone, and its name can be claimed anew", async () => {
      const made = await claim();
      const { name } = made.metadata;
      await world.deliveries.remove(made);
      await world.deliveries.remove(made);
      expect(world.deliveries.find(name)).toBeUndefined();
      expect(await world.deliveries.finish(made, ACTED)).toBe("changed");
      const other = await claim({}, name);
      await world.deliveries.remove(made);
      expect(world.deliveries.find(name)?.metadata.uid).toBe(other.metadata.uid);
    });
  });
}
