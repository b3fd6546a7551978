import { expect, test } from "@jest/globals";
import { headersOf } from "../../../../operator/wiring/technologies.ts";

const read = (text: string) => [...headersOf(text)].map(([name, value]) => [name, value.reveal()]);

test.each([
  [
    "one a line",
    "Authorization: Bearer a:b=\nx-team: shop\n",
    [
      ["authorization", "Bearer a:b="],
      ["x-team", "shop"],
    ],
  ],
  ["with blank lines and the line ends of Windows", "\r\nx-team:shop\r\n\r\n", [["x-team", "shop"]]],
  ["none", "\n", []],
])("headers of a file: %s", (_what, text, headers) => {
  expect(read(text)).toEqual(headers);
});

test.each([
  "x-team: shop\nhidden-word",
  "x-team: shop\nname with spaces: hidden-word",
  "x-team: shop\nx: hidden-word\u0007",
])("what is no header is named by its line alone: %j", (text) => {
  const failure = () => headersOf(text);
  expect(failure).toThrow("settings.tracing.headersFile: line 2 of the file is not 'name: value'");
  expect(failure).not.toThrow("hidden-word");
});

test("values are printed nowhere", () => {
  expect(JSON.stringify([...headersOf("x-team: hidden-word")])).not.toContain("hidden-word");
});
