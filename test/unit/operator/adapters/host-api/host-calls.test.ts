import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { HostKind } from "../../../../../config/webhooks.schema.ts";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import { hostApi } from "../../../../../operator/adapters/host-api/host-api.ts";
import { hostCalls } from "../../../../../operator/adapters/host-api/host-calls.ts";
import type { Log } from "../../../../../operator/kit/log.ts";
import { HOST_TECHNOLOGIES } from "../../../../../operator/wiring/hosts.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";

const NOW = "2026-06-04T12:00:00Z";
const SECOND = Date.parse(NOW) / 1000;
const LIST = "GET /repos/{owner}/{repo}/pulls";
const of = { owner: "shop", repo: "shop-api" };
const { signal } = new AbortController();

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: string;
}

/** A host that answers by `state.reply`, and its API as two connections with a common count. */
async function scene(kind: HostKind = "github") {
  const state = { reply: (_request: IncomingMessage): Reply => ({}), token: "first" };
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const { status = 200, headers = {}, body = "[]" } = state.reply(request);
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(status === 304 ? "" : body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const warnings: unknown[] = [];
  const log: Log = { ...silentLog, warn: (_message, facts) => warnings.push(facts?.budget), with: () => log };
  const clock = new TestClock(NOW);
  const calls = hostCalls(log);
  const technology = HOST_TECHNOLOGIES[kind];
  const host = { id: "git", apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const token = async () => new Sensitive(state.token);
  const [api, other] = [1, 2].map(() => hostApi({ host, technology, clock, token, calls: calls.of("git") }));
  if (api === undefined || other === undefined) throw new Error("two were made");
  ends.push(api.close, other.close, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { state, requests, warnings, clock, api, other, counts: () => calls.snapshot().git };
}

/** Answers as a host with tags: the tag's content is unchanged. */
const tagged = (etag: string, body: string) => (request: IncomingMessage) =>
  request.headers["if-none-match"] === etag ? { status: 304, headers: { etag } } : { headers: { etag }, body };

describe("a read that is repeated", () => {
  test("is asked for changes, and answered as before while there are none", async () => {
    const { state, requests, api, counts } = await scene();
    state.reply = tagged('"one"', '[{"number":7}]');
    expect(await api.request(LIST, of, signal)).toEqual([{ number: 7 }]);
    expect(await api.request(LIST, of, signal)).toEqual([{ number: 7 }]);
    state.reply = tagged('"two"', '[{"number":8}]');
    expect(await api.request(LIST, of, signal)).toEqual([{ number: 8 }]);
    expect(await api.request(LIST, of, signal)).toEqual([{ number: 8 }]);
    expect(requests.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"one"', '"one"', '"two"']);
    expect(counts()).toMatchObject({ sent: 4, answers: { "2xx": 2, "304": 2 } });
  });

  test("has its next page although an unchanged answer does not name it", async () => {
    const { state, api } = await scene();
    const link = '<https://elsewhere.test/x?cursor=v1_12>; rel="next"';
    state.reply = (request) =>
      request.headers["if-none-match"] ? { status: 304 } : { headers: { etag: '"1"', link } };
    expect(await api.page(LIST, of, signal)).toEqual({ items: [], next: "v1_12" });
    expect(await api.page(LIST, of, signal)).toEqual({ items: [], next: "v1_12" });
  });

  test("is not answered with what another token was shown, or another page", async () => {
    const { state, requests, api } = await scene();
    state.reply = tagged('"one"', '["of the first"]');
    await api.request(LIST, { ...of, page: 1 }, signal);
    await api.request(LIST, { ...of, page: 2 }, signal);
    state.token = "second";
    await api.request(LIST, { ...of, page: 1 }, signal);
    expect(requests.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, undefined, undefined]);
  });

  test("is answered by the host alone where it has no tag, and a write always is", async () => {
    const { state, requests, api } = await scene("gitea");
    await api.request(LIST, of, signal);
    await api.request(LIST, of, signal);
    state.reply = tagged('"one"', "{}");
    await api.request("POST /repos/{owner}/{repo}/pulls", of, signal);
    await api.request("POST /repos/{owner}/{repo}/pulls", of, signal);
    expect(requests.map(({ headers }) => headers["if-none-match"])).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("the calls to a host", () => {
  test("are counted by their answers, of all connections to it", async () => {
    const { state, api, other, counts } = await scene("gitea");
    for (const status of [500, 503, 404, 201]) {
      state.reply = () => ({ status });
      await api.request(LIST, of, signal).catch(() => undefined);
    }
    state.reply = () => ({ status: 307, headers: { location: "/" } });
    await other.request(LIST, of, signal).catch(() => undefined);
    state.reply = ({ socket }) => {
      socket.destroy();
      return {};
    };
    await other.request(LIST, of, signal).catch(() => undefined);
    const answers = { "2xx": 1, "3xx": 1, "4xx": 1, "5xx": 2, none: 1 };
    expect(counts()).toEqual({ sent: 6, answers, limited: 0, budget: undefined });
  });

  test.each([
    ["github", "x-ratelimit"],
    ["gitlab", "ratelimit"],
  ] as const)(
    "of %s have a budget: it is known, and warned of once in its window when little is left",
    async (kind, prefix) => {
      const { state, api, warnings, counts } = await scene(kind);
      const left = async (remaining: number, reset: number) => {
        const reported = { limit: 5000, remaining, reset };
        const headers = Object.fromEntries(
          Object.entries(reported).map(([name, value]) => [`${prefix}-${name}`, value]),
        );
        state.reply = () => ({ headers });
        await api.request(LIST, of, signal);
      };
      await left(500, SECOND + 60);
      expect(warnings).toEqual([]);
      await left(499, SECOND + 60);
      await left(498, SECOND + 60);
      // An overtaken answer.
      await left(600, SECOND + 60);
      expect(counts()?.budget?.remaining).toBe(498);
      await left(497, SECOND + 60);
      expect(warnings).toEqual([{ limit: 5000, remaining: 499, resetsAt: new Date((SECOND + 60) * 1000) }]);
      await left(4999, SECOND + 3660);
      await left(1, SECOND + 3660);
      expect(warnings).toHaveLength(2);
      expect(counts()?.budget).toEqual({ limit: 5000, remaining: 1, resetsAt: new Date((SECOND + 3660) * 1000) });
    },
  );

  test("are no more until the budget is new, by any connection, once it is used up", async () => {
    const { state, requests, clock, api, other, counts } = await scene();
    const headers = { "x-ratelimit-limit": 60, "x-ratelimit-remaining": 0, "x-ratelimit-reset": SECOND + 90 };
    state.reply = () => ({ headers });
    await api.request(LIST, of, signal);
    const refused = { name: "PullRequestHostFailed", retryAfterMs: 90_000 };
    await expect(other.request(LIST, of, signal)).rejects.toMatchObject(refused);
    await expect(api.request(LIST, of, signal)).rejects.toMatchObject(refused);
    clock.advance(89_999);
    await expect(api.request(LIST, of, signal)).rejects.toMatchObject({ retryAfterMs: 1 });
    expect(requests).toHaveLength(1);
    clock.advance(1);
    state.reply = () => ({ status: 403, headers: { ...headers, "x-ratelimit-reset": SECOND + 100 } });
    await expect(other.request(LIST, of, signal)).rejects.toMatchObject({ retryAfterMs: 10_000, status: 403 });
    await expect(api.request(LIST, of, signal)).rejects.toMatchObject({ retryAfterMs: 10_000 });
    expect(requests).toHaveLength(2);
    expect(counts()).toMatchObject({ sent: 2, limited: 1, answers: { "2xx": 1, "4xx": 1 } });
  });
});
