import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type CommandLine, type Running, startCommandLine } from "../../../support/cli/command-line.ts";
import { READY, step, untilFollowed, untilMade, writeStatus } from "../../../support/cli/operator.ts";

type Json = Record<string, unknown>;

let line: CommandLine;
beforeEach(async () => {
  line = await startCommandLine();
});
afterEach(() => line.stop());

/** An assistant's program: JSON lines over stdin and stdout. */
class Assistant {
  readonly #running: Running;
  readonly #waiting = new Map<number, (message: Json) => void>();
  readonly strays: string[] = [];
  #last = 0;

  constructor(running: Running, confirm: boolean | undefined) {
    this.#running = running;
    createInterface({ input: running.child.stdout as NodeJS.ReadableStream }).on("line", (text) => {
      const message = parsed(text);
      if (message === undefined) this.strays.push(text);
      else if (message.method === "elicitation/create") this.#answer(message.id, confirm);
      else this.#waiting.get(Number(message.id))?.(message);
    });
  }

  async begin(capabilities: Json): Promise<Json> {
    const info = { clientInfo: { name: "test", version: "1" }, protocolVersion: "2025-06-18", capabilities };
    const begun = await this.ask("initialize", info);
    this.#write({ method: "notifications/initialized" });
    return begun;
  }

  async ask(method: string, params: Json = {}): Promise<Json> {
    this.#last += 1;
    const id = this.#last;
    const answer = new Promise<Json>((resolve) => this.#waiting.set(id, resolve));
    this.#write({ id, method, params });
    const { result, error } = await answer;
    return (result ?? error) as Json;
  }

  /** Calls a tool: its text, parsed as JSON after a success. */
  async call(name: string, given: Json): Promise<{ isError: boolean; value: unknown }> {
    const { content, isError = false } = await this.ask("tools/call", { name, arguments: given });
    const [{ text }] = content as [{ text: string }];
    return { isError: isError === true, value: isError ? text : JSON.parse(text) };
  }

  leave(): void {
    this.#running.child.stdin?.end();
  }

  #answer(id: unknown, confirm: boolean | undefined): void {
    const content = { confirm };
    this.#write({ id, result: confirm === undefined ? { action: "decline" } : { action: "accept", content } });
  }

  #write(message: Json): void {
    this.#running.child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

async function assistant(
  args: readonly string[] = [],
  confirm?: boolean,
): Promise<{ one: Assistant; running: Running }> {
  const running = await line.start("developer", ["mcp", ...args], { keepsInput: true });
  return { one: new Assistant(running, confirm), running };
}

const environment_id = "shop-test";
const REQUESTED = { environment_name: environment_id, backend_repo: "shop-api", backend_branch: "main" };

async function toolNames(one: Assistant): Promise<string[]> {
  const { tools } = await one.ask("tools/list");
  return (tools as { name: string }[]).map(({ name }) => name);
}

const OF_2026 = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
};

describe("eenv mcp", () => {
  test("makes an environment, waits for it, extends it, reads its log, and puts it to sleep", async () => {
    const { one, running } = await assistant();
    await one.begin({});
    expect(await one.call("create_environment", REQUESTED)).toMatchObject({
      isError: false,
      value: { environment: { name: environment_id, status: "creating" } },
    });
    const waiting = one.call("wait_for_environment", { environment_id });
    await untilFollowed(line.service);
    await writeStatus(line.service, environment_id, READY);
    expect(await waiting).toMatchObject({ value: { status: "ready" } });
    await one.call("extend_environment", { environment_id, ttl_hours: 48, description: "a demo" });
    expect(await one.call("sleep_environment", { environment_id })).toMatchObject({ value: { suspended: true } });
    expect((await untilMade(line.service, environment_id)).spec).toMatchObject({ ttlHours: 48, suspended: true });
    // What was ready before does not count.
    const falling = one.call("wait_for_environment", { environment_id });
    await untilFollowed(line.service);
    const asleep = { ...READY, conditions: [...(READY.conditions ?? []), step("Suspended", "True")] };
    await writeStatus(line.service, environment_id, asleep);
    expect(await falling).toMatchObject({ value: { status: "ready", suspended: true, observed: true } });
    const at = new Date("2026-06-01T12:00:00Z");
    line.service.podLogs.write(environment_id, "backend", { at, text: "hello" });
    expect(await one.call("get_logs", { environment_id, component: "backend", lines: 5 })).toMatchObject({
      value: { logs: [{ message: "hello" }] },
    });
    expect(await one.call("wait_for_environment", { environment_id: "none" })).toMatchObject({ isError: true });
    one.leave();
    expect(await running.ended).toMatchObject({ code: 0, stderr: "" });
    expect(one.strays).toEqual([]);
  });

  test("does not call an environment gone because the platform does not answer", async () => {
    const { one } = await assistant();
    await one.begin({});
    line.server.close();
    line.server.closeAllConnections();
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => sockets.add(socket)).listen(Number(new URL(line.url).port), "127.0.0.1");
    try {
      await once(silent, "listening");
      const reply = await one.call("wait_for_environment", { environment_id, timeout_seconds: 1 });
      expect(JSON.stringify(reply)).toContain("did not say within 1 s");
    } finally {
      for (const socket of sockets) socket.destroy();
      silent.close();
      await once(silent, "close");
      line.server.listen(Number(new URL(line.url).port), "127.0.0.1");
      await once(line.server, "listening");
    }
  });

  test("refuses arguments that the document of the interface does not have", async () => {
    const { one } = await assistant();
    await one.begin({});
    const refused = await one.ask("tools/call", {
      name: "create_environment",
      arguments: { ...REQUESTED, ttl: "long" },
    });
    expect(JSON.stringify(refused)).toContain("ttl");
    expect(line.service.environments.list()).toEqual([]);
  });

  test("has nothing that destroys unless it is allowed", async () => {
    const { one } = await assistant();
    await one.begin({});
    const names = await toolNames(one);
    expect(names).toContain("wake_environment");
    expect(names.filter((name) => /delete/.test(name))).toEqual([]);
  });

  test.each([
    ["who says yes", { elicitation: {} }, true, "terminating"],
    ["who says no", { elicitation: {} }, false, "ready"],
    ["who closes the question", { elicitation: {} }, undefined, "ready"],
    ["whose program can't ask", {}, true, "ready"],
  ])("what is to be deleted is asked of the user: one %s", async (_, capabilities, confirm, status) => {
    const spec = { backend: { repository: "shop-api", branch: "main" }, access: { groups: ["shop"] } };
    await line.service.environments.create(environment_id, spec);
    await writeStatus(line.service, environment_id, READY);
    const { one } = await assistant(["--allow-delete"], confirm);
    await one.begin(capabilities);
    expect(await toolNames(one)).toContain("delete_environment");
    const { isError } = await one.call("delete_environment", { environment_id });
    expect(isError).toBe(status === "ready");
    expect(await one.call("get_environment", { environment_id })).toMatchObject({ value: { status } });
  });

  test("asks the user of a client of the protocol's revision of 2026, too", async () => {
    const spec = { backend: { repository: "shop-api", branch: "main" }, access: { groups: ["shop"] } };
    await line.service.environments.create(environment_id, spec);
    const isDeleted = async () =>
      (await untilMade(line.service, environment_id)).metadata.deletionTimestamp !== undefined;
    const { one } = await assistant(["--allow-delete"]);
    const params = { name: "delete_environment", arguments: { environment_id }, _meta: OF_2026 };
    await one.ask("server/discover", { _meta: OF_2026 });
    expect(await one.ask("tools/call", params)).toMatchObject({
      resultType: "input_required",
      inputRequests: {
        confirm: { params: { message: expect.stringContaining(`Delete the environment ${environment_id}`) } },
      },
    });
    expect(await isDeleted()).toBe(false);
    const inputResponses = { confirm: { action: "accept", content: { confirm: true } } };
    expect(await one.ask("tools/call", { ...params, inputResponses })).toMatchObject({ resultType: "complete" });
    expect(await isDeleted()).toBe(true);
  });
});
