import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type JsonLinesOptions, jsonLines } from "../../../../../operator/kit/client/watch.ts";

async function* chunked(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function collect(chunks: AsyncIterable<Uint8Array>, options?: JsonLinesOptions): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const ended of jsonLines(chunks, options)) values.push(...ended);
  return values;
}

describe("jsonLines", () => {
  test("answers the same values however the bytes are cut", async () => {
    const values = fc.array(fc.record({ text: fc.string({ unit: "grapheme" }), number: fc.integer() }), {
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(values, fc.integer({ min: 1, max: 7 }), async (given, size) => {
        const bytes = Buffer.from(given.map((value) => `${JSON.stringify(value)}\n`).join(""));
        const chunks: Uint8Array[] = [];
        for (let start = 0; start < bytes.length; start += size) chunks.push(bytes.subarray(start, start + size));
        expect(await collect(chunked(...chunks))).toEqual(given);
      }),
    );
  });

  test.each([
    { name: "a line that is no JSON", text: "secret\n" },
    { name: "a last line without its end", text: '{"a":1}\n{"secret":' },
  ])("$name breaks the stream and is not quoted", async ({ text }) => {
    const error: unknown = await collect(chunked(Buffer.from(text))).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ reason: "BrokenStream" });
    expect(String((error as Error).cause)).not.toContain("secret");
  });

  test("a line beyond 8 MiB breaks the stream as soon as it is too long", async () => {
    let mebibytes = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (; mebibytes < 100; mebibytes += 1) yield Buffer.alloc(1024 * 1024, "x");
    }
    await expect(collect(endless())).rejects.toMatchObject({ reason: "BrokenStream" });
    expect(mebibytes).toBe(8);
  });
});

describe("jsonLines without managed fields", () => {
  const decoded = async (value: unknown) => {
    const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
    return (await collect(chunked(bytes), { withoutManagedFields: true }))[0];
  };
  const managedBy = (managedFields: unknown) => ({
    type: "ADDED",
    object: {
      metadata: { annotations: { note: '"managedFields":[{}]' }, managedFields, name: "€" },
      spec: { list: [{}] },
    },
  });

  test("answers everything else", async () => {
    const fields = [{ manager: "one", fieldsV1: { "f:spec": { 'k:{"a":"b"}': {} } } }, { manager: "other" }];
    expect(await decoded(managedBy(fields))).toEqual(managedBy(undefined));
  });

  const built = (name: string, rest: object) => ({
    type: "ADDED",
    object: {
      kind: "Thing",
      metadata: { name, labels: { note: "]},€" }, managedFields: [{ manager: "one" }] },
      ...rest,
    },
  });
  const emptied = (event: ReturnType<typeof built>) => ({
    ...event,
    object: { ...event.object, metadata: { ...event.object.metadata, managedFields: undefined } },
  });

  test("answers each object with its own rest, of which equal ones are one, and frozen", async () => {
    const rests = [
      { spec: { a: ["€"] } },
      { spec: { a: ["€"] } },
      { spec: { b: 1 }, status: {} },
      { spec: { a: ["€"] } },
      {},
    ];
    const events = rests.map((rest, at) => built(`thing-${at}`, rest));
    const bytes = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    const decodedAll = (await collect(chunked(bytes), { withoutManagedFields: true })) as ReturnType<typeof built>[];
    expect(decodedAll).toEqual(events.map(emptied));
    const [first, second, third, fourth] = decodedAll.map(({ object }) => (object as { spec?: object }).spec);
    expect([second === first, fourth === first, Object.isFrozen(first), Object.isFrozen(third)]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test("decodes as many different rests as there are", async () => {
    const events = Array.from({ length: 100 }, (_, at) => built(`thing-${at}`, { spec: { at: at % 40 } }));
    const bytes = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    expect(await collect(chunked(bytes), { withoutManagedFields: true })).toEqual(events.map(emptied));
  });

  test.each([
    { name: "there are none", fields: undefined },
    { name: "there are none any more", fields: [] },
    { name: "a key looks like their end", fields: [{ fieldsV1: { 'v:"}]"': {}, "f:}],": {} } }] },
    { name: "they end the metadata", fields: [{ manager: "one" }] },
  ])("answers everything that matters when $name", async ({ fields }) => {
    const value = (await decoded(managedBy(fields))) as ReturnType<typeof managedBy>;
    const { managedFields: _, ...metadata } = value.object.metadata;
    const { managedFields: __, ...expected } = managedBy(fields).object.metadata;
    expect([metadata, value.object.spec]).toEqual([expected, { list: [{}] }]);
  });
});
