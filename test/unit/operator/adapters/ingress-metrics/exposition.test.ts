import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { eachLine, sampleName, sampleOf } from "../../../../../operator/adapters/ingress-metrics/exposition.ts";

const parsed = (line: string) => {
  const sample = sampleOf(line);
  return sample && [sample.name, Object.fromEntries(sample.labels), sample.value];
};

describe("a line of Prometheus' text format", () => {
  // https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-example
  test.each([
    [
      "has labels and a time",
      'http_requests_total{method="post",code="200"} 1027 1395066363000',
      ["http_requests_total", { method: "post", code: "200" }, 1027],
    ],
    [
      "has blanks between its parts",
      '  a_total { code = "400" , }\t  3  1395066363000 ',
      ["a_total", { code: "400" }, 3],
    ],
    [
      "has escapes",
      String.raw`msdos{path="C:\\DIR\\FILE.TXT",error="no:\n\"FILE\""} 1.458255915e9`,
      ["msdos", { path: "C:\\DIR\\FILE.TXT", error: 'no:\n"FILE"' }, 1458255915],
    ],
    ["has no labels", "metric_without_timestamp_and_labels 12.47", ["metric_without_timestamp_and_labels", {}, 12.47]],
    ["has empty labels", "envoy_server_total_connections{} 512\r", ["envoy_server_total_connections", {}, 512]],
    ["has braces and commas in a label", 'a{b="{x,y=\\"}",c=""} 1', ["a", { b: '{x,y="}', c: "" }, 1]],
    ["has an exemplar", 'a_total{b="c"} 5 1.5 # {trace_id="x"} 1', ["a_total", { b: "c" }, 5]],
    [
      "has a value that is no number",
      'something_weird{problem="division by zero"} +Inf -3982045',
      ["something_weird", { problem: "division by zero" }, Number.NaN],
    ],
    ["is a comment", "# HELP a_total 5", undefined],
    ["is empty", "", undefined],
    ["ends in a label", 'a_total{b="c', undefined],
    ["has an unquoted label", "a_total{b=c} 1", undefined],
    ["has no value", 'a_total{b="c"} ', undefined],
    ["has more after its value", "a_total 1 2 3", undefined],
    ["is no text of it", "<html>", undefined],
  ])("that %s", (_what, line, expected) => {
    expect(parsed(line)).toEqual(expected);
  });

  test("is read as it was written", () => {
    const name = fc.stringMatching(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/);
    const label = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]*$/);
    const labels = fc.uniqueArray(fc.tuple(label, fc.string({ unit: "grapheme" })), { selector: ([key]) => key });
    const value = fc.double({ min: 0, noDefaultInfinity: true, noNaN: true });
    const escaped = (text: string) => text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");
    fc.assert(
      fc.property(name, labels, value, (metric, pairs, count) => {
        const text = pairs.map(([key, of]) => `${key}="${escaped(of)}"`).join(",");
        const line = `${metric}{${text}} ${count}`;
        expect(sampleName(line)).toBe(metric);
        const sample = sampleOf(line);
        expect([...(sample?.labels ?? [])]).toEqual(pairs);
        expect(sample?.value).toBe(count);
      }),
    );
  });

  test("is whole wherever the parts end, and no part of a text is a failure but a long line", async () => {
    const text = Buffer.from('eins 1\nzwölf{a="\u{1F600}"} 12\n\ndrei 3');
    const cuts = fc
      .uniqueArray(fc.nat({ max: text.length }))
      .map((all) => [0, ...all.toSorted((a, b) => a - b), text.length]);
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const lines: string[] = [];
        const parts = places.slice(1).map((end, at) => text.subarray(places[at], end));
        await eachLine(streamOf(parts), (line) => lines.push(line));
        expect(lines).toEqual(["eins 1", 'zwölf{a="\u{1F600}"} 12', "", "drei 3"]);
      }),
    );
    await expect(eachLine(streamOf([Buffer.alloc(70_000, "x")]), () => undefined)).rejects.toThrow(RangeError);
  });
});

async function* streamOf(parts: readonly Uint8Array[]) {
  yield* parts;
}
