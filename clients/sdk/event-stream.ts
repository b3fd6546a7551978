/** One event of a stream: https://html.spec.whatwg.org/multipage/server-sent-events.html. */
export interface StreamEvent<Data> {
  /** Position after it, for `Last-Event-ID`. */
  readonly id: string | undefined;
  readonly data: Data;
}

/** Limit of one event, above any of the platform's. */
const MOST_CHARACTERS = 4 * 1024 ** 2;

/** Events of a body without comments. @throws Error for an event that is too long */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent<unknown>> {
  let text = "";
  for await (const piece of textOf(body)) {
    text += piece;
    const blocks = text.split(/\r\n\r\n|\n\n|\r\r/);
    text = blocks.pop() ?? "";
    if (text.length > MOST_CHARACTERS) throw new Error("an event of the stream is too long");
    for (const block of blocks) {
      const event = eventIn(block);
      if (event !== undefined) yield event;
    }
  }
}

/** Not by `for await` over the body, which some browsers lack. */
async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      yield decoder.decode(part.value, { stream: true });
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventIn(block: string): StreamEvent<unknown> | undefined {
  const fields = block.split(/\r\n|\n|\r/).map((line) => {
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    return { name, value };
  });
  const data = fields.filter(({ name }) => name === "data").map(({ value }) => value);
  if (data.length === 0) return undefined;
  return { id: fields.findLast(({ name }) => name === "id")?.value, data: JSON.parse(data.join("\n")) };
}
