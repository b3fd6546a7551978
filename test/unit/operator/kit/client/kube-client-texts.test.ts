import { describe, expect, jest, test } from "@jest/globals";
import { isForbidden } from "../../../../../operator/kit/client/errors.ts";
import { Stream, status } from "../../../../support/doubles/fake-api-server.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { anything, failureOf, kubeClients } from "./kube-clients.ts";

// Longer than the deadlines of inner waits.
jest.setTimeout(30_000);

const world = kubeClients();
const { client } = world;

describe("text", () => {
  test("stops at its limit, between characters", async () => {
    world.server.on(anything, (_request, response) => response.end("abc€def"));
    expect(await client().text("/log", { tail: "1" }, { limitBytes: 5 })).toBe("abc");
  });

  test("a refusal is an error", async () => {
    world.server.on(anything, status(403, "Forbidden"));
    expect(isForbidden(await failureOf(client().text("/log", {}, { limitBytes: 5 })))).toBe(true);
  });
});

describe("lines", () => {
  async function read(signal = new AbortController().signal): Promise<string[]> {
    const lines: string[] = [];
    for await (const line of client().lines("/log", { follow: "true" }, { signal })) lines.push(line);
    return lines;
  }

  test("come as they are written, whole, however the bytes are cut", async () => {
    const stream = new Stream();
    world.server.on(anything, stream.answer);
    const reading = read();
    await until(() => stream.isOpen, { what: "the stream" });
    for (const byte of Buffer.from("a€\n\nlast\ncut off")) stream.write(Buffer.from([byte]));
    stream.end();
    expect(await reading).toEqual(["a€", "", "last"]);
  });

  test("are cut where they are too long to be held", async () => {
    world.server.on(anything, (_request, response) => response.end(`${"x".repeat(200_000)}\nnext\n`));
    expect((await read()).map(({ length }) => length)).toEqual([65_536, 4]);
  });

  test("end with the signal, and with it the connection", async () => {
    const stream = new Stream();
    world.server.on(anything, stream.answer);
    const ending = new AbortController();
    const reading = failureOf(read(ending.signal));
    await until(() => stream.isOpen, { what: "the stream" });
    ending.abort();
    expect(await reading).toMatchObject({ reason: "Aborted" });
    await until(() => !stream.isOpen, { what: "the end of the connection" });
  });

  test("that are refused or cut off are an error", async () => {
    const stream = new Stream();
    world.server.on(anything, status(403, "Forbidden"), stream.answer);
    expect(isForbidden(await failureOf(read()))).toBe(true);
    const reading = failureOf(read());
    await until(() => stream.isOpen, { what: "the stream" });
    stream.reset();
    expect(await reading).toMatchObject({ status: 0 });
  });
});
