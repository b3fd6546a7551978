import { afterAll, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import { gitea } from "../../../../../operator/adapters/gitea/host-technology.ts";
import { github } from "../../../../../operator/adapters/github/host-technology.ts";
import { hostApi } from "../../../../../operator/adapters/host-api/host-api.ts";
import { hostCalls } from "../../../../../operator/adapters/host-api/host-calls.ts";
import { PullRequestHostFailed } from "../../../../../operator/ports/webhooks/pull-request-host.ts";
import { type HostApiDouble, startHostApi } from "../../../../support/doubles/host-api.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { commitA } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";

const repository = { host: "git", fullName: "shop/shop-api" };
const marker = "<!-- environment of 42 -->";
const { signal } = new AbortController();
const sticky = (text: string, id?: number) => ({
  number: 42,
  marker,
  text,
  mayCreate: true,
  ...(id === undefined ? {} : { id }),
});
const report = { commit: commitA, context: "environment", state: "success", description: "ready" } as const;

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  await Promise.all(ends.map((end) => end()));
});

const KINDS = { gitea, github };

let hosts = 0;

/** A separate host: octokit spreads a host's calls over seconds, so tests of several wait concurrently. */
async function scene(kind: keyof typeof KINDS) {
  const api = await startHostApi(kind);
  const clock = new TestClock();
  hosts += 1;
  const host = { id: `host-${hosts}`, apiUrl: api.apiUrl };
  const technology = KINDS[kind];
  const connection = hostApi({
    host,
    technology,
    clock,
    token: async () => new Sensitive("the-token"),
    calls: hostCalls(silentLog).of(host.id),
  });
  ends.push(connection.close, api.stop);
  return { api, clock, id: host.id, host: technology.reporter(connection) };
}

const foreign = (api: HostApiDouble) =>
  api.comments.push({ id: 1, body: `${marker}\nby another account`, user: { id: 8 } });

describe.each(["gitea", "github"] as const)("feedback to %s", (kind) => {
  test.concurrent("sets the status of a commit with the token", async () => {
    const { api, host } = await scene(kind);
    await host.report(repository, { ...report, url: "https://shop.env.test" }, signal);
    expect(api.statuses).toEqual([
      {
        sha: commitA,
        context: "environment",
        state: "success",
        description: "ready",
        target_url: "https://shop.env.test",
      },
    ]);
    expect(api.calls.map(({ authorization }) => authorization)).toEqual(["Bearer the-token"]);
  });

  test.concurrent("edits its comment in place, finds a lost one by its marker and touches no other author's", async () => {
    const { api, host } = await scene(kind);
    foreign(api);
    const id = await host.comment(repository, sticky("one"), signal);
    expect(await host.comment(repository, sticky("two", id), signal)).toBe(id);
    expect(await host.comment(repository, sticky("three"), signal)).toBe(id);
    expect(await host.comment(repository, sticky("four", 999), signal)).toBe(id);
    expect(api.comments.map(({ body }) => body)).toEqual([`${marker}\nby another account`, `${marker}\nfour`]);
  }, 60_000);
});

test.concurrent("a GitHub App, which may not ask for its user, finds its comment, too", async () => {
  const { api, host } = await scene("github");
  const forbidden = { status: 403, body: { message: "Resource not accessible by integration" } };
  api.answerWith(({ route }) => (route === "GET /user" ? forbidden : undefined));
  foreign(api);
  const id = await host.comment(repository, sticky("one"), signal);
  expect(await host.comment(repository, sticky("two"), signal)).toBe(id);
  expect(api.comments.map(({ body }) => body)).toEqual([`${marker}\nby another account`, `${marker}\ntwo`]);
}, 60_000);

describe("deployments of GitHub", () => {
  const deployment = { environment: "shop-pr-42", commit: commitA, state: "success", description: "ready" } as const;

  test.concurrent("are one at a time, and go with their environment; those of others stay", async () => {
    const { api, host } = await scene("github");
    const others = { id: 1, sha: commitA, environment: "shop-pr-42", task: "deploy", states: ["success"] };
    api.deployments.push({ ...others });
    await host.deploy(repository, { ...deployment, state: "pending" }, signal);
    await host.deploy(repository, { ...deployment, url: "https://shop.env.test" }, signal);
    expect(api.deployments.map(({ states }) => states)).toEqual([["success"], ["in_progress", "success"]]);

    await host.deploy(repository, { ...deployment, commit: "b".repeat(40) }, signal);
    expect(api.deployments.map(({ sha }) => sha)).toEqual([commitA, "b".repeat(40)]);
    await host.retire(repository, "shop-pr-42", signal);
    expect(api.deployments).toEqual([others]);
    expect([...api.environments]).toEqual([]);
    await host.retire(repository, "shop-pr-42", signal);
  }, 60_000);

  test.concurrent("go although the token may not delete the environment", async () => {
    const { api, host } = await scene("github");
    await host.deploy(repository, deployment, signal);
    const isEnvironment = (route: string) => route.startsWith("DELETE ") && route.includes("/environments/");
    api.answerWith(({ route }) => (isEnvironment(route) ? { status: 403, body: { message: "Forbidden" } } : undefined));
    await host.retire(repository, "shop-pr-42", signal);
    expect(api.deployments).toEqual([]);
  }, 60_000);
});

describe("feedback to a host", () => {
  test.concurrent("writes a deleted comment anew, and only where it may", async () => {
    const { api, host } = await scene("gitea");
    const id = await host.comment(repository, sticky("one"), signal);
    api.comments.length = 0;
    expect(await host.comment(repository, { ...sticky("gone", id), mayCreate: false }, signal)).toBeUndefined();
    expect(api.comments).toEqual([]);
    expect(await host.comment(repository, sticky("two", id), signal)).not.toBe(id);
    expect(api.comments).toHaveLength(1);
  });

  test.concurrent.each([
    [{ status: 429, headers: { "retry-after": "30" } }, 30_000],
    [{ status: 429 }, 60_000],
    [{ status: 403, body: { message: "You have exceeded a secondary rate limit" } }, 60_000],
  ])("sends nothing more to a host that limits its calls until it wants to be asked again: %j", async (answer, ms) => {
    const { api, clock, host } = await scene("gitea");
    api.answerWith(() => answer);
    const refusal = host.report(repository, report, signal);
    await expect(refusal).rejects.toMatchObject({ name: "PullRequestHostFailed", retryAfterMs: ms });
    await expect(host.report(repository, report, signal)).rejects.toBeInstanceOf(PullRequestHostFailed);
    expect(api.calls).toHaveLength(1);
    api.answerWith(() => undefined);
    clock.advance(ms);
    await host.report(repository, report, signal);
    expect(api.statuses).toHaveLength(1);
  });

  test.concurrent("follows no redirect, which could lead the token elsewhere", async () => {
    const { api, host } = await scene("github");
    const other = await startHostApi("github");
    ends.push(other.stop);
    api.answerWith(() => ({ status: 307, headers: { location: `${other.apiUrl}/user` } }));
    await expect(host.report(repository, report, signal)).rejects.toThrow("it redirects with 307");
    expect(other.calls).toEqual([]);
  });

  test.concurrent("says what failed, without the token", async () => {
    const { api, id, host } = await scene("gitea");
    api.answerWith(() => ({ status: 403, body: { message: "token lacks write:repository" } }));
    const failure = await host.report(repository, report, signal).catch((error: Error) => error.message);
    expect(failure).toMatch(/statuses/);
    expect(failure).toContain(` of host '${id}' failed: it answered 403: token lacks write:repository`);
    expect(failure).not.toContain("the-token");
  });
});
