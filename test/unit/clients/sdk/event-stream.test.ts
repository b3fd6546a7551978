import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { eventsOf } from "../../../../clients/sdk/event-stream.ts";

function bodyOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

const encode = (text: string) => new TextEncoder().encode(text);

describe("the events of a stream", () => {
  test("are what each holds, with its id; comments and half an event are none", async () => {
    const text = ': hello\n\nid: 1\ndata: {"a":1}\n\ndata: [1,\ndata: 2]\r\n\r\nid: 3\ndata: {"a"';
    expect(await Array.fromAsync(eventsOf(bodyOf([encode(text)])))).toEqual([
      { id: "1", data: { a: 1 } },
      { id: undefined, data: [1, 2] },
    ]);
  });

  test("keep the line separators of Unicode, which end no line of a stream", async () => {
    const text = 'data: "a\u2028b\u2029c\u0085d"\n\n';
    expect(await Array.fromAsync(eventsOf(bodyOf([encode(text)])))).toEqual([
      { id: undefined, data: "a\u2028b\u2029c\u0085d" },
    ]);
  });

  test("are the same wherever the network cuts the text", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: "binary" })),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        async (texts, sizes) => {
          const whole = encode(texts.map((text, index) => `id: ${index}\ndata: ${JSON.stringify(text)}\n\n`).join(""));
          const pieces: Uint8Array[] = [];
          for (let at = 0; at < whole.length; ) {
            const size = sizes.next().value as number;
            pieces.push(whole.subarray(at, at + size));
            at += size;
          }
          const events = await Array.fromAsync(eventsOf(bodyOf(pieces)));
          expect(events.map(({ data }) => data)).toEqual(texts);
        },
      ),
    );
  });

  test("one without an end is an error before it fills the memory", async () => {
    const endless = bodyOf(Array.from({ length: 50 }, () => encode("x".repeat(100_000))));
    await expect(Array.fromAsync(eventsOf(endless))).rejects.toThrow("too long");
  });
});
