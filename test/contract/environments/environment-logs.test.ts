import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { LAST_ACTIVITY_ANNOTATION } from "../../../crds/group.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
beforeEach(async () => {
  service = await startApiService();
  await service.environments.create("shop", {
    backend: { repository: "shop-api", branch: "main" },
    access: { groups: ["shop"] },
  });
});
afterEach(() => service.stop());

const BASE = "/api/environments";

async function logs(component: string, query = "", base = BASE) {
  const authorization = await service.bearer("viewer");
  return service.http.get(`${base}/shop/logs/${component}${query}`).set({ authorization });
}

const ago = (ms: number) => new Date(Date.now() - ms);
const write = (text: string, at = ago(1_000)) => service.podLogs.write("shop", "backend", { at, text });
const messagesOf = (reply: { body: { logs: { message: string }[] } }) => reply.body.logs.map(({ message }) => message);

test("the newest lines are entries as the contract has them, the oldest first", async () => {
  const at = ago(60_000);
  write("listening on 8080", at);
  write('{"level":"error","msg":"no database","time":"2026-06-01T12:03:07.120Z"}');
  const reply = await logs("backend");
  expectPromised(reply, "get", "/api/environments/{environment_id}/logs/{component}");
  expect(reply.body).toEqual({
    component: "backend",
    logs: [
      { timestamp: at.toISOString(), level: "INFO", message: "listening on 8080" },
      { timestamp: "2026-06-01T12:03:07.120Z", level: "ERROR", message: "no database" },
    ],
    total_lines: 2,
  });
});

test("version 2 answers the same within an envelope", async () => {
  write("one");
  const reply = await logs("backend", "", "/api/v2/environments");
  expectPromised(reply, "get", "/api/v2/environments/{environment_id}/logs/{component}");
  expect(reply.body).toMatchObject({ status: "success", data: { component: "backend", total_lines: 1 } });
});

describe("how many lines", () => {
  beforeEach(() => {
    for (let line = 1; line <= 150; line += 1) write(`line ${line}`, ago(1_000 - line));
  });

  test("is 100 by default, and total_lines counts the answered lines", async () => {
    const reply = await logs("backend");
    expect([messagesOf(reply)[0], reply.body.logs.length, reply.body.total_lines]).toEqual(["line 51", 100, 100]);
  });

  test.each([
    ["1", ["line 150"]],
    ["2", ["line 149", "line 150"]],
  ])("is as the caller says: %s", async (lines, expected) => {
    expect(messagesOf(await logs("backend", `?lines=${lines}`))).toEqual(expected);
  });

  test("is 1000 at most", async () => {
    expect((await logs("backend", "?lines=1000")).body.total_lines).toBe(150);
    expectProblem(await logs("backend", "?lines=1001"), 400, /^lines: /);
  });
});

test.each([
  ["1h", 3],
  ["30m", 2],
  ["45s", 1],
  ["0h30m", 2],
  ["1h30m", 3],
  ["1d", 4],
  ["0.001d", 1],
  ["0.5h", 2],
  ["1.5h0.5m0.5s", 3],
  ["0s", 0],
])("since=%s leaves out what is older", async (since, expected) => {
  for (const seconds of [10, 100, 2_000, 6_000]) write(`${seconds}`, ago(seconds * 1_000));
  expect((await logs("backend", `?since=${since}`)).body.total_lines).toBe(expected);
});

describe("the deployer's report", () => {
  const at = (minute: number) => new Date(Date.parse("2026-06-01T12:00:00.000Z") - minute * 60_000);
  beforeEach(() => {
    service.deployerLog.say("shop", { at: at(10), level: "INFO", message: "Operation Succeeded: synced" });
    service.deployerLog.say("shop", { at: at(90), level: "ERROR", message: "SyncError: quota" });
    service.deployerLog.say("other", { at: at(1), level: "INFO", message: "of another environment" });
  });

  test("is the log of argocd", async () => {
    const reply = await logs("argocd");
    expectPromised(reply, "get", "/api/environments/{environment_id}/logs/{component}");
    expect(reply.body).toEqual({
      component: "argocd",
      logs: [
        { timestamp: "2026-06-01T10:30:00.000Z", level: "ERROR", message: "SyncError: quota" },
        { timestamp: "2026-06-01T11:50:00.000Z", level: "INFO", message: "Operation Succeeded: synced" },
      ],
      total_lines: 2,
    });
  });

  test.each(["?lines=1", "?since=1h"])("is as much as %s asks for", async (query) => {
    expect(messagesOf(await logs("argocd", query))).toEqual(["Operation Succeeded: synced"]);
  });
});

test("a component that the environment lacks is not found", async () => {
  const reply = await logs("frontend");
  expectProblem(reply, 404, "The environment has no frontend");
  expectPromised(reply, "get", "/api/environments/{environment_id}/logs/{component}");
});

test("logs can't be had while the cluster can't be reached", async () => {
  service.podLogs.setReachable(false);
  const reply = await logs("backend");
  expectProblem(reply, 503, /Kubernetes API/);
  expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
});

describe("refused to abuse", () => {
  test.each([
    "x",
    "..%2fargocd",
    "backend%2f..",
    "backend%2f..%2f..",
    "BACKEND",
    "backend%00",
    "%2e%2e%2fargocd",
    "database",
  ])("a component that is none: %s", async (component) => {
    const reply = await logs(component);
    expectProblem(reply, 400, /^component: must be one of backend, frontend, argocd$/);
  });

  test.each([
    "since=1h;x",
    "since=-1h",
    "since=1.h",
    "since=.5h",
    "since=1,5h",
    "since=1d1d",
    "since=h1d",
    "since=h",
    "since=1h%0a",
    "since=30m1h",
    "since=999999h",
    "since=1",
    "since=2026-01-01",
    "lines=1e9",
    "lines=1000000000",
    "lines=0",
    "lines=-1",
    "lines=x",
    "lines=1.5",
    "lines=0x10",
    "lines=1&lines=2",
    "follow=true",
    "container=main",
  ])("a query that makes no sense: %s", async (query) => {
    write("one");
    expectProblem(await logs("backend", `?${query}`), 400);
  });

  test("the access log of a log request has none of its lines", async () => {
    write("a line that no reader may find in our own log");
    await logs("backend");
    expect(JSON.stringify(service.log)).not.toContain("no reader may find");
  });
});

test("every look at a log is recorded", async () => {
  await logs("argocd");
  const [record] = service.audit.records.filter(({ action }) => action === "getLogs");
  expect(record).toMatchObject({ event: "read", target: "shop", outcome: "accepted", status: 200 });
});

describe("the look of a person at a log", () => {
  const seenAt = async () =>
    (await service.environments.find("shop"))?.metadata.annotations?.[LAST_ACTIVITY_ANNOTATION];

  test("is recorded where the environment may fall asleep", async () => {
    const environment = await service.environments.find("shop");
    if (environment === undefined) throw new Error("no shop");
    const sleep = { state: "awake", since: "2026-06-01T17:00:00Z", afterIdleMinutes: 60 } as const;
    service.environments.put({ ...environment, status: { phase: "ready", sleep } });
    expect((await logs("backend")).status).toBe(200);
    expect(await seenAt()).toBe(service.clock.now().toISOString());
  });

  test("leaves any other environment as it is", async () => {
    expect((await logs("backend")).status).toBe(200);
    expect(await seenAt()).toBeUndefined();
  });
});
