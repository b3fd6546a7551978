import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import { gitea } from "../../../../../operator/adapters/gitea/host-technology.ts";
import { hostApi } from "../../../../../operator/adapters/host-api/host-api.ts";
import { hostCalls } from "../../../../../operator/adapters/host-api/host-calls.ts";
import type { HostApi } from "../../../../../operator/ports/host-technology.ts";
import { PullRequestHostFailed } from "../../../../../operator/ports/webhooks/pull-request-host.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";

const ROUTE = "GET /repos/{owner}/{repo}/hooks";
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

async function hostThat(answer: (reply: ServerResponse) => void): Promise<HostApi> {
  const server = createServer((_request, reply) => answer(reply));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const host = { id: "git", apiUrl: `http://127.0.0.1:${port}` };
  const calls = hostCalls(silentLog).of(host.id);
  const api = hostApi({
    host,
    technology: gitea,
    calls,
    clock: new TestClock(),
    token: async () => new Sensitive("the-token"),
  });
  ends.push(api.close, async () => {
    server.closeAllConnections();
    server.close();
  });
  return api;
}

async function failureOf({ request }: HostApi): Promise<PullRequestHostFailed> {
  const call = request(ROUTE, { owner: "shop", repo: "shop-api" }, AbortSignal.timeout(20_000));
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PullRequestHostFailed);
  return error as PullRequestHostFailed;
}

describe("a call that the host refuses", () => {
  const json = { "content-type": "application/json; charset=utf-8" };

  test.each([
    ["a page of four mebibytes", 500, { "content-type": "text/html" }, `<html>${"x".repeat(4 * 1024 ** 2)}`],
    ["text", 502, { "content-type": "text/plain" }, "upstream of 10.0.0.7 is away"],
    ["JSON without a message", 403, json, JSON.stringify({ detail: "upstream of 10.0.0.7 is away" })],
    ["what claims to be JSON", 500, json, "<html>upstream of 10.0.0.7 is away"],
    ["JSON whose message is no text", 500, json, JSON.stringify({ message: { html: "upstream of 10.0.0.7" } })],
  ])("and answers with %s fails with the status alone", async (_what, status, headers, body) => {
    const failure = await failureOf(await hostThat((reply) => reply.writeHead(status, headers).end(body)));
    expect(failure.message).toBe(`${ROUTE} of host 'git' failed: it answered ${status}`);
    expect(failure.status).toBe(status);
    expect(inspect(failure, { depth: 10 })).not.toMatch(/html|10\.0\.0\.7|xxxx|the-token/);
  });

  test("and says why in JSON fails with 200 characters of that", async () => {
    const body = JSON.stringify({ message: `Validation Failed ${"x".repeat(5_000)}`, errors: [{ secret: "hunter2" }] });
    const failure = await failureOf(await hostThat((reply) => reply.writeHead(422, json).end(body)));
    const said = `Validation Failed ${"x".repeat(182)}`;
    expect(failure.message).toBe(`${ROUTE} of host 'git' failed: it answered 422: ${said}`);
    expect(inspect(failure, { depth: 10 })).not.toMatch(/x{183}|hunter2|the-token/);
  });

  test("and says why as GitLab does fails with that", async () => {
    const body = JSON.stringify({ error: "insufficient_scope" });
    const failure = await failureOf(await hostThat((reply) => reply.writeHead(403, json).end(body)));
    expect(failure.message).toBe(`${ROUTE} of host 'git' failed: it answered 403: insufficient_scope`);
  });

  test("is read to 64 KiB and no further", async () => {
    let sent = 0;
    let isCut = false;
    const api = await hostThat((reply) => {
      reply.writeHead(500, json);
      reply.on("close", () => {
        isCut = true;
      });
      const chunk = Buffer.alloc(16 * 1024, " ");
      const more = () => {
        while (!isCut && reply.write(chunk)) sent += chunk.length;
        if (!isCut) reply.once("drain", more);
      };
      more();
    });
    expect((await failureOf(api)).message).toBe(`${ROUTE} of host 'git' failed: it answered 500`);
    // Both ends buffer sent and unread data.
    expect(sent).toBeLessThan(16 * 1024 ** 2);
  });

  test("without an answer names what happened", async () => {
    const failure = await failureOf(await hostThat((reply) => reply.destroy()));
    expect(failure.message).toMatch(/failed: .*(other side closed|ECONNRESET|fetch failed)/);
    expect(failure.status).toBeUndefined();
  });
});
