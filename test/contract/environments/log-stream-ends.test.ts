import { describe, expect, jest, test } from "@jest/globals";
import { startServer } from "../../../api/http/server.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { silentLog } from "../../support/fixtures/silent-log.ts";
import { until } from "../../support/fixtures/until.ts";
import { readEvents } from "../../support/plane/event-reader.ts";
import { logFollowers, messagesOf, PATH } from "./log-followers.ts";
import { untilCame } from "./stream-followers.ts";

const logs = logFollowers();
const { write, follow } = logs;

describe("a stream ends", () => {
  const ends: readonly { name: string; how: () => unknown; by?: "ended" | "cut" }[] = [
    { name: "when the service stops", how: () => logs.service.stopping.abort() },
    { name: "after half an hour", how: () => logs.service.clock.advance(30 * 60_000) },
    {
      name: "with the environment",
      how: () => {
        logs.service.environments.finishRemoval("shop");
        write("after its end");
      },
    },
    {
      name: "when the environment is another's",
      how: async () => {
        const shop = await logs.service.environments.find("shop");
        if (shop !== undefined)
          logs.service.environments.put({ ...shop, spec: { ...shop.spec, access: { groups: [] } } });
        write("for others");
      },
    },
  ];
  test.each(ends)("$name, and tells nothing more", async ({ how }) => {
    write("one");
    const reader = await follow();
    await untilCame(reader, 1);
    await how();
    expect(await reader.end).toBe("ended");
    expect(messagesOf(reader)).toEqual(["one"]);
  });

  test("with the proof of the caller", async () => {
    write("one");
    const reader = await readEvents(`${logs.base}${PATH}`, {
      authorization: await logs.service.bearer("viewer", {
        exp: Math.floor(logs.service.clock.now().getTime() / 1000) + 60,
      }),
    });
    logs.readers.push(reader);
    await untilCame(reader, 1);
    logs.service.clock.advance(10_000);
    write("two");
    await untilCame(reader, 2);
    logs.service.clock.advance(120_000);
    write("three");
    expect(await reader.end).toBe("cut");
    expect(messagesOf(reader)).toEqual(["one", "two"]);
  });

  test("within a second of the revocation of its API token", async () => {
    write("one");
    const { token, id } = await revocable();
    const reader = await readEvents(`${logs.base}${PATH}`, { authorization: `Bearer ${token}` });
    logs.readers.push(reader);
    await untilCame(reader, 1);
    await logs.service.http.delete(`/api/tokens/${id}`).set({ authorization: await logs.service.bearer("developer") });
    logs.service.clock.advance(1_000);
    write("after the revocation");
    expect(await reader.end).toBe("cut");
    expect(messagesOf(reader)).toEqual(["one"]);
  });

  test("within a second of a revocation on another replica, and sends nothing that comes after it", async () => {
    write("one");
    const { token, id } = await revocable();
    const reader = await readEvents(`${logs.base}${PATH}`, { authorization: `Bearer ${token}` });
    logs.readers.push(reader);
    await untilCame(reader, 1);
    logs.service.apiTokens.setWatching(false);
    logs.service.clock.advance(1_000);
    await logs.service.http.get("/api/environments").set({ authorization: `Bearer ${token}` });
    const made = await logs.service.apiTokens.read(id);
    if (made === undefined) throw new Error("not made");
    logs.service.apiTokens.elsewhere(made, { revokedAt: logs.service.clock.now().toISOString() });
    logs.service.clock.advance(999);
    write("two");
    await untilCame(reader, 2);
    logs.service.clock.advance(999);
    write("after the revocation");
    expect(await reader.end).toBe("cut");
    expect(messagesOf(reader)).toEqual(["one", "two"]);
  });

  test("with the rights of the caller, also without events, and writes no stack to the console", async () => {
    const reported = jest.spyOn(console, "error").mockImplementation(() => undefined);
    logs.service.app.set("env", "production");
    const { token, id } = await revocable();
    const reader = await readEvents(`${logs.base}${PATH}`, { authorization: `Bearer ${token}` });
    logs.readers.push(reader);
    await until(() => logs.service.podLogs.followers === 1);
    await logs.service.http.delete(`/api/tokens/${id}`).set({ authorization: await logs.service.bearer("developer") });
    logs.service.clock.advance(1_000);
    expect(await reader.end).toBe("cut");
    expect(reported).not.toHaveBeenCalled();
    reported.mockRestore();
  });

  test("before the stopping server is closed, so that it has no stream to wait for", async () => {
    const stopping = logs.service.stopping;
    const api = await startServer(logs.service.app, {
      host: "127.0.0.1",
      port: 0,
      clock: systemClock,
      log: silentLog,
      stopping,
    });
    const authorization = await logs.service.bearer("viewer");
    const reader = await readEvents(`${api.url}${PATH}`, { authorization });
    logs.readers.push(reader);
    await until(() => logs.service.podLogs.followers === 1);
    await api.stop({ graceMs: 60_000 });
    expect(await reader.end).toBe("ended");
  });
});

async function revocable() {
  const authorization = await logs.service.bearer("developer");
  const made = await logs.service.http
    .post("/api/tokens")
    .set({ authorization })
    .send({ name: "ci", scopes: ["ENV_READ"] });
  return made.body.data as { token: string; id: string };
}
