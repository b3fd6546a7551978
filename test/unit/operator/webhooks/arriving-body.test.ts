import { createHash } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { bodyMemory } from "../../../../operator/kit/body-memory.ts";
import { InboxFull, WebhookTooLarge } from "../../../../operator/ports/api/webhook-inbox.ts";
import { readBody } from "../../../../operator/webhooks/arriving-body.ts";
import { inChunks } from "../../../support/fixtures/webhooks/received-webhook.ts";

const MIB = 1_048_576;
const named = { repository: { full_name: "shop/shop-api" } };
const long = (mib: number) => "x".repeat(mib * MIB);
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

async function read(text: string, { bodies = bodyMemory(128 * MIB), most = 25 * MIB, headers = {} } = {}) {
  const held = bodies.begin();
  const given = createHash("sha256");
  let began = 0;
  const checksFor = async () => {
    began += 1;
    return { update: (bytes: Buffer) => void given.update(bytes) };
  };
  try {
    const { checks, ...body } = await readBody({ chunks: inChunks(text), headers }, { most, held, checksFor });
    const heldBytes = held.pieces().reduce((sum, { length }) => sum + length, 0);
    return { ...body, began, heldBytes, given: checks === undefined ? undefined : given.digest("hex") };
  } finally {
    held.drop();
  }
}

describe("the bytes of a body", () => {
  test("of 1 MiB are held, and no checks begin", async () => {
    const text = JSON.stringify({ ...named, ref: "a" });
    const body = { payload: { ...named, ref: "a" }, digest: sha256(text), given: undefined };
    expect(await read(text)).toEqual({ ...body, began: 0, heldBytes: text.length });
  });

  test("of more go through the checks, all of them and in order, when the repository is named", async () => {
    const text = JSON.stringify({ ...named, commits: long(3), ref: "a" });
    const body = { payload: { ...named, ref: "a" }, digest: sha256(text), given: sha256(text) };
    expect(await read(text)).toEqual({ ...body, began: 1, heldBytes: 0 });
  });

  test("are held as long as no repository is named", async () => {
    const text = JSON.stringify({ commits: long(3), ref: "a" });
    expect(await read(text)).toMatchObject({ began: 0, heldBytes: text.length });
  });
});

describe("abuse: all bodies together are held within bounds", () => {
  test("one that finds no room is refused, and the others go on; room that is given back is taken again", async () => {
    const bodies = bodyMemory(4 * MIB);
    const unnamed = JSON.stringify({ commits: long(4) });
    const other = bodies.begin();
    other.add(Buffer.alloc(3 * MIB));
    await expect(read(unnamed, { bodies })).rejects.toThrow(InboxFull);
    expect(await read(JSON.stringify({ ...named, commits: long(4) }), { bodies })).toMatchObject({ began: 1 });
    other.drop();
    const after = bodyMemory(4 * MIB);
    expect(await read(unnamed, { bodies: after })).toMatchObject({ began: 0 });
    expect(await read(unnamed, { bodies: after })).toMatchObject({ began: 0 });
  });

  test("a body that announces or has too many bytes is refused", async () => {
    const text = JSON.stringify({ ref: "a" });
    const tooLong = { most: MIB, headers: { "content-length": `${MIB + 1}` } };
    await expect(read(text, tooLong)).rejects.toThrow(WebhookTooLarge);
    await expect(read(JSON.stringify({ commits: long(1) }), { most: MIB })).rejects.toThrow(WebhookTooLarge);
  });
});
