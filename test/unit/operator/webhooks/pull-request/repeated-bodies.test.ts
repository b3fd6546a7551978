import { describe, expect, test } from "@jest/globals";
import { MINUTE_MS } from "../../../../../crds/durations.ts";
import type { PullRequestState } from "../../../../../crds/webhooks/webhook-event.schema.ts";
import { commitOf, pullRequestState, WebhookWorld } from "../../../../support/worlds/webhook-world.ts";

class ForgettingWorld extends WebhookWorld {
  #sent = 0;

  /** An event of now. */
  async happens(more: Partial<PullRequestState>): Promise<PullRequestState> {
    this.nowMs += MINUTE_MS;
    const state = pullRequestState({ ...more, updatedAt: new Date(this.nowMs).toISOString() });
    await this.sent(state);
    return state;
  }

  /** A body under its own id. */
  sent(state: PullRequestState) {
    this.#sent += 1;
    return this.arrive(state, `delivery-${this.#sent}`);
  }

  /** Drops all deliveries, and finishes deletions. */
  forget(): void {
    this.nowMs += MINUTE_MS;
    this.finishDeletions();
    this.deliveries.length = 0;
    this.nowMs += MINUTE_MS;
  }

  get commits() {
    return this.living.map(({ spec }) => spec.backend.commit);
  }
}

describe("abuse: a body that is sent again when the deliveries of its pull request are dropped", () => {
  test("makes no environment of a closed pull request again", async () => {
    const world = new ForgettingWorld();
    const opened = await world.happens({});
    const labeled = await world.happens({ action: "labeled", labels: ["bug"] });
    await world.happens({ action: "closed", state: "closed" });
    world.forget();
    for (const body of [opened, labeled]) {
      expect(await world.sent(body)).toMatchObject({ decision: { do: "nothing", reason: "Outdated" } });
    }
    expect(world.commits).toEqual([]);

    await world.happens({ action: "reopened" });
    expect(world.commits).toEqual([commitOf("a")]);
  });

  test("makes none while the environment is still being deleted", async () => {
    const world = new ForgettingWorld();
    const opened = await world.happens({});
    await world.happens({ action: "closed", state: "closed" });
    world.deliveries.length = 0;
    expect(await world.sent(opened)).toMatchObject({ decision: { do: "nothing", reason: "Outdated" } });
  });

  test("makes none of the second that a pull request was closed in", async () => {
    const world = new ForgettingWorld();
    const opened = await world.happens({});
    await world.sent({ ...opened, action: "closed", state: "closed" });
    world.forget();
    expect(await world.sent(opened)).toMatchObject({ decision: { do: "nothing", reason: "Outdated" } });
  });

  test("brings no former commit back", async () => {
    const world = new ForgettingWorld();
    const opened = await world.happens({});
    await world.happens({ action: "synchronize", headCommit: commitOf("b") });
    world.forget();
    await world.sent(opened);
    expect(world.commits).toEqual([commitOf("b")]);
  });

  test("brings nothing back that a user deleted, whatever commit it had before", async () => {
    const world = new ForgettingWorld();
    const opened = await world.happens({});
    await world.happens({ action: "synchronize", headCommit: commitOf("b") });
    for (const environment of world.living) world.remove(environment);
    world.forget();
    await world.sent(opened);
    expect(world.commits).toEqual([]);
    await world.happens({ action: "synchronize", headCommit: commitOf("c") });
    expect(world.commits).toEqual([commitOf("c")]);
  });

  test("ends no environment that was made again since", async () => {
    const world = new ForgettingWorld();
    await world.happens({});
    const closed = await world.happens({ action: "closed", state: "closed" });
    world.forget();
    await world.happens({ action: "reopened" });
    world.forget();
    await world.sent(closed);
    expect(world.commits).toEqual([commitOf("a")]);
  });
});

test("a host that gives no times is believed in the order of arrival", async () => {
  const world = new ForgettingWorld();
  await world.sent(pullRequestState());
  expect(world.living[0]?.metadata.annotations ?? {}).toEqual({});
  world.nowMs += MINUTE_MS;
  await world.sent(pullRequestState({ action: "closed", state: "closed" }));
  expect(world.commits).toEqual([]);
});

test.each(["", "yesterday open", `yesterday open ${commitOf("a")}`, "2026-01-01T00:00:00Z open x"])(
  "what the annotation has that is not the platform's, such as '%s', is ignored",
  async (text) => {
    const world = new ForgettingWorld();
    await world.happens({});
    const [environment] = world.living;
    if (environment === undefined) throw new Error("there is no environment");
    const annotations = { "ephemeral-environments.dev/pull-request-state": text };
    world.put({ ...environment, metadata: { ...environment.metadata, annotations } });
    await world.happens({ action: "synchronize", headCommit: commitOf("b") });
    expect(world.commits).toEqual([commitOf("b")]);
  },
);
