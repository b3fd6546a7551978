import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import { expect, test } from "@jest/globals";
import { Type } from "typebox";
import { inputReader } from "../../../../api/input/request-input.ts";
import type { Contract } from "../../../../api/route.ts";
import { bodyMemory } from "../../../../operator/kit/body-memory.ts";

const read = inputReader({ body: Type.Object({ text: Type.String() }) } as unknown as Contract, bodyMemory(0));

test("a body is read by copying its bytes: a chunk of one byte may hold the memory of a whole network read", async () => {
  const headers = { "content-type": "application/json" };
  const request = Object.assign(new EventEmitter(), { headers, params: {}, originalUrl: "/" });
  const reading = read(request as unknown as IncomingMessage & typeof request);
  const chunk = Buffer.alloc(1);
  for (const byte of Buffer.from(`{"text":"${"ü".repeat(3_000)}"}`)) {
    chunk[0] = byte;
    request.emit("data", chunk);
  }
  request.emit("end");
  expect((await reading).body).toEqual({ text: "ü".repeat(3_000) });
});
