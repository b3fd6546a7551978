import { afterEach, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import { gitea } from "../../../../../operator/adapters/gitea/host-technology.ts";
import { github } from "../../../../../operator/adapters/github/host-technology.ts";
import { redeliverMissed } from "../../../../../operator/adapters/github/missed-webhooks.ts";
import { gitlab } from "../../../../../operator/adapters/gitlab/host-technology.ts";
import { hostApi } from "../../../../../operator/adapters/host-api/host-api.ts";
import { hostCalls } from "../../../../../operator/adapters/host-api/host-calls.ts";
import type { RequestValues } from "../../../../../operator/ports/host-technology.ts";
import { PullRequestHostFailed } from "../../../../../operator/ports/webhooks/pull-request-host.ts";
import { startGitlabApi } from "../../../../support/doubles/gitlab-api.ts";
import type { HookAttempt } from "../../../../support/doubles/hook-log.ts";
import { startHostApi } from "../../../../support/doubles/host-api.ts";
import { PULL_COMMIT } from "../../../../support/doubles/host-pull-requests.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";

const NOW = "2026-06-04T12:00:00Z";
const repository = { host: "git", fullName: "shop/shop-api" };
const { signal } = new AbortController();
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

const KINDS = {
  gitea: { start: () => startHostApi("gitea"), technology: gitea },
  github: { start: () => startHostApi("github"), technology: github },
  gitlab: { start: startGitlabApi, technology: gitlab },
} as const;
type Kind = keyof typeof KINDS;

async function scene<K extends Kind>(kind: K) {
  const { start, technology } = KINDS[kind];
  const api = (await start()) as Awaited<ReturnType<(typeof KINDS)[K]["start"]>>;
  const clock = new TestClock(NOW);
  const host = hostApi({
    host: { id: "git", apiUrl: api.apiUrl },
    technology,
    clock,
    token: async () => new Sensitive("t"),
    calls: hostCalls(silentLog).of("git"),
  });
  ends.push(host.close, api.stop);
  return { api, reader: technology.reader(host, clock) };
}

const asRead = {
  number: 7,
  state: "open",
  merged: false,
  draft: false,
  labels: [],
  headRef: "feature",
  isFork: false,
  headCommit: PULL_COMMIT,
  baseRef: "main",
  updatedAt: "2026-01-01T00:00:00.000Z",
  login: "dev",
};

/** Only GitHub names the merge commit for tests: the one in its documentation's example. */
const MERGE_COMMIT = "e5bd3914e2e596debea16f433f57875b5b90bcd6";
const mergeOf = (kind: Kind) => (kind === "github" ? { mergeCommit: MERGE_COMMIT } : {});

describe.each(["gitea", "github", "gitlab"] as const)("pull requests of %s", (kind) => {
  test("are read in the one vocabulary", async () => {
    const { api, reader } = await scene(kind);
    const changed = { draft: true, labels: ["preview", "bug"], branch: "fix", base: "release", isFork: true };
    api.pulls.push({ number: 7 }, { number: 8, ...changed, updatedAt: "2026-01-02T00:00:00Z" });
    api.pulls.push({ number: 9, state: "closed" });
    const other = { draft: true, labels: ["preview", "bug"], headRef: "fix", baseRef: "release", isFork: true };
    expect(await reader.openPullRequests(repository, signal)).toEqual([
      { ...asRead, ...other, ...mergeOf(kind), number: 8, updatedAt: "2026-01-02T00:00:00.000Z" },
      { ...asRead, ...mergeOf(kind) },
    ]);
    expect(await reader.pullRequest(repository, 7, signal)).toEqual({ ...asRead, ...mergeOf(kind) });
    expect(await reader.pullRequest(repository, 9, signal)).toMatchObject({ state: "closed", merged: false });
  });

  test("say whether they were merged, and that one is not there", async () => {
    const { api, reader } = await scene(kind);
    api.pulls.push({ number: 7, state: "closed", merged: true });
    expect(await reader.pullRequest(repository, 7, signal)).toMatchObject({ state: "closed", merged: true });
    expect(await reader.pullRequest(repository, 8, signal)).toBeUndefined();
  });

  test("are read page by page, up to a bound", async () => {
    const { api, reader } = await scene(kind);
    for (let number = 1; number <= 1_200; number++) api.pulls.push({ number });
    const numbers = (await reader.openPullRequests(repository, signal)).map(({ number }) => number);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.length).toBe(kind === "gitea" ? 500 : 1_000);
    expect(api.calls).toHaveLength(10);
  });

  test.each([
    ["an error", { status: 502, body: { message: "Bad Gateway" } }],
    ["no list", { status: 200, body: { message: "maintenance" } }],
    ["a limit", { status: 429, headers: { "retry-after": "30" } }],
  ])("are never none when the host answers %s", async (_what, answer) => {
    const { api, reader } = await scene(kind);
    api.answerWith(() => answer);
    const failed = { name: "PullRequestHostFailed" };
    await expect(reader.openPullRequests(repository, signal)).rejects.toMatchObject(failed);
    await expect(reader.pullRequest(repository, 7, signal)).rejects.toMatchObject(failed);
  });

  test("are left out of a list when they can't be read; one that is asked for is an error", async () => {
    const { api, reader } = await scene(kind);
    api.pulls.push({ number: 7, commit: "no commit" }, { number: 8 });
    expect((await reader.openPullRequests(repository, signal)).map(({ number }) => number)).toEqual([8]);
    await expect(reader.pullRequest(repository, 7, signal)).rejects.toMatchObject({ name: "PullRequestHostFailed" });
    api.answerWith(() => ({ status: 200, body: {} }));
    await expect(reader.pullRequest(repository, 8, signal)).rejects.toMatchObject({ name: "PullRequestHostFailed" });
  });
});

describe("webhooks that GitHub could not deliver", () => {
  const address = "https://platform.test/api/webhooks/";
  const missed = { address, since: new Date("2026-06-01T12:00:00Z") };
  const attempt = (id: number, guid: string, status_code: number, day = 3): HookAttempt => ({
    id,
    guid,
    status_code,
    delivered_at: `2026-06-0${day}T00:00:00Z`,
  });

  async function hookScene() {
    const made = await scene("github");
    made.api.log.hooks.push(
      { id: 2, config: { url: "https://elsewhere.test/api/webhooks/repohost" } },
      { id: 1, config: { url: `${address}repohost` } },
    );
    return made;
  }

  test("are sent again, each once, unless one attempt succeeded, they are old, or they failed too often", async () => {
    const { api, reader } = await hookScene();
    const stubborn = [1, 2, 3, 4, 5].map((n) => attempt(50 + n, "stubborn", 401));
    api.log.attempts.push(attempt(9, "repeated", 502), attempt(8, "saved", 200), attempt(7, "missed", 0), ...stubborn);
    api.log.attempts.push(attempt(6, "repeated", 0), attempt(5, "saved", 503), attempt(4, "old", 502, 1));
    expect(await reader.redeliver(repository, missed, signal)).toBe(2);
    expect(api.log.repeated).toEqual([9, 7]);
  }, 60_000);

  test("are bounded in number", async () => {
    const attempts = Array.from({ length: 55 }, (_, index) => attempt(index, `missed-${index}`, 502));
    const posts: string[] = [];
    const redeliver = redeliverMissed({
      async request<T>(route: string) {
        if (route.startsWith("POST ")) posts.push(route);
        return [{ id: 1, events: [], config: { url: `${address}repohost` } }] as T;
      },
      page: async <T>() => ({ items: attempts as T, next: undefined }),
    });
    expect(await redeliver(repository, missed, signal)).toBe(50);
    expect(posts).toHaveLength(50);
  });

  test("are repeated although the host refuses one of them, and not while it limits its calls", async () => {
    const attempts = [1, 2, 3].map((id) => attempt(id, `missed-${id}`, 502));
    const posts: unknown[] = [];
    let failure = new PullRequestHostFailed("it can't be repeated", { status: 404 });
    const redeliver = redeliverMissed({
      async request<T>(route: string, values?: RequestValues) {
        if (!route.startsWith("POST ")) return [{ id: 1, events: [], config: { url: `${address}repohost` } }] as T;
        const { id } = values as { readonly id: number };
        posts.push(id);
        if (id === 1) throw failure;
        return {} as T;
      },
      page: async <T>() => ({ items: attempts as T, next: undefined }),
    });
    expect(await redeliver(repository, missed, signal)).toBe(2);
    expect(posts).toEqual([1, 2, 3]);
    failure = new PullRequestHostFailed("it limits its calls", { status: 403, retryAfterMs: 1_000 });
    await expect(redeliver(repository, missed, signal)).rejects.toThrow("it limits its calls");
    expect(posts).toEqual([1, 2, 3, 1]);
    failure = new PullRequestHostFailed("the token may not repeat it", { status: 403 });
    expect(await redeliver(repository, missed, signal)).toBeUndefined();
    expect(posts).toEqual([1, 2, 3, 1, 1]);
  });

  test.each([403, 404])("are left alone where the token has no right to the log: %d", async (status) => {
    const { api, reader } = await hookScene();
    api.answerWith(() => ({ status, body: { message: "Resource not accessible" } }));
    expect(await reader.redeliver(repository, missed, signal)).toBeUndefined();
  });

  test("of another address are left alone", async () => {
    const { api, reader } = await hookScene();
    api.log.hooks.pop();
    expect(await reader.redeliver(repository, missed, signal)).toBeUndefined();
    expect(api.calls).toHaveLength(1);
  });
});

test.each(["gitea", "gitlab"] as const)("%s keeps no log that is used", async (kind) => {
  const { api, reader } = await scene(kind);
  expect(await reader.redeliver(repository, { address: "https://platform.test", since: new Date(NOW) }, signal)).toBe(
    undefined,
  );
  expect(api.calls).toEqual([]);
});
