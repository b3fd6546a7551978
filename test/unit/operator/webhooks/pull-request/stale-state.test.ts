import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { WebhookDelivery } from "../../../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState } from "../../../../../crds/webhooks/webhook-event.schema.ts";
import { HostedWorld } from "../../../../support/worlds/hosted-world.ts";
import { commitOf, pullRequestState } from "../../../../support/worlds/webhook-world.ts";

const SECOND = "2026-01-01T00:00:10.000Z";
const LABEL = "preview";
const rules = { enabled: true, requiredLabels: [LABEL] };
const labeled = { labels: [LABEL], updatedAt: SECOND };

describe("two states of one second", () => {
  test("are decided by the host, whichever event came last", async () => {
    const hosted = new HostedWorld();
    hosted.hosts({ headCommit: commitOf("b"), updatedAt: SECOND });
    await hosted.arrive({ action: "synchronize", headCommit: commitOf("b"), updatedAt: SECOND });
    expect(hosted.host.requests).toEqual([]);
    const { requested: requests } = await hosted.arrive({
      action: "opened",
      headCommit: commitOf("a"),
      updatedAt: SECOND,
    });
    expect(requests).toEqual([{ repository: "shop-api", rule: "state_refetched", passed: true }]);
    expect(hosted.commits).toEqual([commitOf("b")]);
  });

  test("are decided by the host's next answer where its first one was older", async () => {
    const hosted = new HostedWorld();
    await hosted.arrive({ action: "opened", updatedAt: SECOND });
    hosted.hosts({ updatedAt: "2026-01-01T00:00:05.000Z" });
    const pullRequest = pullRequestState({ action: "synchronize", headCommit: commitOf("b"), updatedAt: SECOND });
    const delivery = hosted.world.claim({ type: "pull_request", pullRequest });
    await hosted.settle(delivery);
    hosted.hosts({ headCommit: commitOf("b"), updatedAt: SECOND });
    await hosted.settle(delivery);
    await hosted.settle(delivery);
    const refetched = hosted.world.deliveries.filter(({ spec }) => spec.source === "refetch");
    expect(refetched.map(({ spec }) => spec.event.pullRequest?.updatedAt)).toEqual([
      "2026-01-01T00:00:05.000Z",
      SECOND,
    ]);
    expect(hosted.commits).toEqual([commitOf("b")]);
  });

  test("that the rules treat alike need no refetch", async () => {
    const hosted = new HostedWorld();
    await hosted.arrive({ action: "opened", updatedAt: SECOND });
    await hosted.arrive({ action: "labeled", labels: ["bug"], updatedAt: SECOND });
    expect(hosted.host.requests).toEqual([]);
  });

  test("are decided by what is known when the host can't be asked, and the trace says so", async () => {
    const hosted = new HostedWorld();
    hosted.host.fail(true);
    await hosted.arrive({ action: "opened", updatedAt: SECOND });
    const closed = await hosted.arrive({ action: "closed", state: "closed", updatedAt: SECOND });
    expect(closed.requested).toEqual([
      {
        repository: "shop-api",
        rule: "state_refetched",
        passed: false,
        message: "what is known decides, because the host could not be asked: the host is away",
      },
    ]);
    expect(hosted.commits).toEqual([]);
  });

  test("end in the state of the pull request, in every order and with repetitions", async () => {
    const change = fc.record({
      state: fc.constantFrom("open" as const, "closed" as const),
      labels: fc.constantFrom<string[][]>([], [LABEL]),
      headCommit: fc.constantFrom(commitOf("a"), commitOf("b")),
    });
    const lives = fc.array(change, { minLength: 2, maxLength: 5 });
    const order = fc.array(fc.nat(100), { minLength: 10, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(lives, order, async (life, ranks) => {
        const states = life.map((one, at) => ({ ...one, action: actionOf(one.state, at), updatedAt: SECOND }));
        const last = states.at(-1) as (typeof states)[number];
        const arrivals = [...states, ...states].map((state, at) => ({ state, id: `${at}`, rank: ranks[at] ?? 0 }));
        arrivals.sort((one, other) => one.rank - other.rank);
        const isIncluded = last.state === "open" && last.labels.length > 0;
        expect(await commitsAfter(arrivals, last)).toEqual(isIncluded ? [last.headCommit] : []);
      }),
      { numRuns: 300 },
    );
  });
});

const actionOf = (state: "open" | "closed", at: number): PullRequestState["action"] =>
  state === "closed" ? "closed" : at === 0 ? "opened" : "updated";

/** Delivers states to a world whose host has the last one; decisions that wait for a deletion are repeated after it. */
async function commitsAfter(
  arrivals: readonly { readonly state: Partial<PullRequestState>; readonly id: string }[],
  last: Partial<PullRequestState>,
) {
  const hosted = new HostedWorld({ pullRequest: rules });
  const waiting = new Set<WebhookDelivery>();
  const settle = async (delivery: WebhookDelivery) => {
    waiting.delete(delivery);
    const before = hosted.world.deliveries.length;
    const { decision } = await hosted.settle(delivery);
    if (decision.do === "wait") waiting.add(delivery);
    for (const found of hosted.world.deliveries.slice(before)) await settle(found);
  };
  for (const { state, id } of arrivals) {
    hosted.world.nowMs += 1_000;
    const pullRequest = { ...hosted.hosts(last), ...state } as PullRequestState;
    await settle(hosted.world.claim({ type: "pull_request", pullRequest }, id));
  }
  hosted.world.finishDeletions();
  for (const delivery of Array.from(waiting)) await settle(delivery);
  return hosted.commits;
}

describe("labels that Gitea does not list", () => {
  const gitea = () => new HostedWorld({ pullRequest: rules, kind: "gitea" });
  const emptied = { action: "updated", labels: [] as string[], updatedAt: "2026-01-01T00:01:00.000Z" } as const;

  test("cost no environment when the host still has them", async () => {
    const hosted = gitea();
    await hosted.arrive({ action: "opened", ...labeled });
    hosted.hosts({ labels: [LABEL], updatedAt: emptied.updatedAt });
    await hosted.arrive(emptied);
    expect(hosted.commits).toHaveLength(1);
    expect(hosted.host.requests).toEqual([7]);
  });

  test("cost it when they are gone, and when the host can't be asked", async () => {
    for (const isAway of [false, true]) {
      const hosted = gitea();
      await hosted.arrive({ action: "opened", ...labeled });
      hosted.hosts({ labels: [], updatedAt: emptied.updatedAt });
      hosted.host.fail(isAway);
      await hosted.arrive(emptied);
      expect(hosted.commits).toEqual([]);
    }
  });

  test("make the environment when they are given", async () => {
    const hosted = gitea();
    await hosted.arrive({ action: "opened", updatedAt: SECOND });
    hosted.hosts({ labels: [LABEL], updatedAt: emptied.updatedAt });
    const { decision } = await hosted.arrive(emptied);
    expect(decision.do).toBe("create");
  });

  test("bring nothing back that a user deleted", async () => {
    const hosted = gitea();
    await hosted.arrive({ action: "opened", ...labeled });
    const [environment] = hosted.world.living;
    hosted.world.nowMs += 30_000;
    if (environment !== undefined) hosted.world.remove(environment);
    hosted.world.finishDeletions();
    hosted.world.nowMs += 30_000;
    hosted.hosts({ labels: [LABEL], updatedAt: emptied.updatedAt });
    await hosted.arrive(emptied);
    expect(hosted.commits).toEqual([]);
  });

  test("need no refetch on other hosts, nor where no label is required", async () => {
    for (const hosted of [new HostedWorld({ pullRequest: rules }), new HostedWorld({ kind: "gitea" })]) {
      await hosted.arrive({ action: "opened", ...labeled });
      await hosted.arrive(emptied);
      expect(hosted.host.requests).toEqual([]);
    }
  });
});
