import { afterAll, expect, jest, test } from "@jest/globals";
import { Environments, find, madeFor, untilGone, untilReady } from "./support/environments.ts";
import { HookLog, PullRequest, storedDeliveries } from "./support/gitea/pull-requests.ts";
import { list, waitFor } from "./support/kubectl.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";
import { waitUntil } from "./support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const STATUS = "ephemeral-environment/shop-backend";

const environments = new Environments();
let pull: PullRequest;
afterAll(() => pull?.close());
afterAll(() => pull?.removeBranch());
afterAll(() => environments.removeAll());

test("a pull request has an environment of its commit, which follows it and goes with it", async () => {
  const opened = await PullRequest.open();
  pull = opened.pull;
  const name = pull.environment;
  environments.adopt(name);
  await waitFor(["--for=create", `eenv/${name}`], 30);
  const { uid } = (await untilReady(name)).metadata;
  await pull.untilAnswers(opened.commit);
  await expectRunningPipeline(opened.commit);
  const comment = await reportedReady(opened.commit);

  await expectNothingOfReplay(uid);

  const pushed = await pull.push();
  await pull.untilAnswers(pushed);
  expect(await reportedReady(pushed)).toBe(comment);
  expect((await find(name)).metadata.uid).toBe(uid);
  expect(await madeFor(uid)).toEqual(
    expect.arrayContaining([`Namespace /env-${name}`, `Application argocd/env-${name}`]),
  );

  await pull.close();
  await untilGone(name);
  expect(await madeFor(uid)).toEqual([]);
  expect((await records()).filter((record) => record.uid === uid)).toMatchObject([{ name, reason: "deleted" }]);
  expect(await pull.comments()).toMatchObject([{ id: comment, body: expect.stringContaining("is gone") }]);
  const last = (await pull.deliveries()).at(-1);
  expect(last?.spec.event.pullRequest).toMatchObject({ action: "closed" });
  expect(last?.status?.phase).toBe("acted");
});

/** Waits until the host shows the commit as ready: its status, and the only comment, whose id is answered. */
async function reportedReady(commit: string): Promise<number> {
  const ours = async () => (await pull.statuses(commit)).filter(({ context }) => context === STATUS);
  const isReported = async () => {
    const [comment] = await pull.comments();
    return (
      comment?.body.includes(commit) && comment.body.includes("is ready") && (await ours())[0]?.status === "success"
    );
  };
  await waitUntil({
    what: `${commit} reported as ready`,
    check: async () => (await isReported()) === true,
    deadlineMs: 60_000,
  });
  const statuses = await ours();
  expect(statuses.map(({ status }) => status)).toEqual(expect.arrayContaining(["pending", "success"]));
  expect(statuses[0]?.target_url).toBe(pull.urls.frontend);
  const comments = await pull.comments();
  expect(comments).toHaveLength(1);
  for (const url of Object.values(pull.urls)) expect(comments[0]?.body).toContain(url);
  return comments[0]?.id ?? 0;
}

/** The commit's workflow waits for a runner: the host reports it by `workflow_run`, `requested`. */
async function expectRunningPipeline(commit: string): Promise<void> {
  const what = `a stored workflow run of ${commit}`;
  const check = async () =>
    (await storedDeliveries()).some(
      ({ spec: { event } }) => event.pipeline?.commit === commit && event.pipeline.status === "running",
    );
  await waitUntil({ what, check, deadlineMs: 30_000 });
}

async function expectNothingOfReplay(uid: string): Promise<void> {
  const ofOpening = async () =>
    (await pull.deliveries()).filter(({ spec }) => spec.event.pullRequest?.action === "opened");
  const [first] = await ofOpening();
  expect(first?.status?.phase).toBe("acted");
  await (await HookLog.open()).replay(first?.spec.deliveryId ?? "");
  const second = async () => (await ofOpening()).find(({ metadata }) => metadata.name !== first?.metadata.name);
  const check = async () => (await second())?.status?.phase === "ignored";
  await waitUntil({ what: "the outcome of the second delivery", check, deadlineMs: 15_000 });
  expect((await second())?.spec.digest).toBe(first?.spec.digest);
  const all = await list<{ spec: { trigger?: { repository?: string; number?: number } } }>("eenv");
  const made = all.filter(({ spec: { trigger } }) => trigger?.number === pull.number);
  expect(made.map(({ metadata }) => metadata.uid)).toEqual([uid]);
}

async function records(): Promise<readonly { uid: string; name: string; reason: string }[]> {
  interface Kept {
    readonly spec: { readonly uid: string; readonly name: string; readonly reason: string };
  }
  return (await list<Kept>("environmentrecords", "--namespace=ephemeral-system")).map(({ spec }) => spec);
}
