import { describe, expect, test } from "@jest/globals";
import { chatFacts, mailFacts } from "../../../../../operator/controllers/notification/escaping.ts";

const ZWSP = "\u200B";

describe("a fact in a chat", () => {
  test.each<[string, string, string]>([
    ["a plain word", "shop-api", "shop-api"],
    ["a name with underscores", "shop_api_v2", "shop_api_v2"],
    ["a mention of everybody", "<!channel>", "&lt;!channel&gt;"],
    ["a mention of a person", "<@U123>", `&lt;@${ZWSP}U123&gt;`],
    ["a mention by name", "@all look", `@${ZWSP}all look`],
    ["a disguised link", "<https://evil.test|https://good.test>", "&lt;https://evil.test|https://good.test&gt;"],
    ["a link in Markdown", "[good](https://evil.test)", `[${ZWSP}good]${ZWSP}(https://evil.test)`],
    ["bold text", "*loud*", `*${ZWSP}loud*${ZWSP}`],
    ["italic text", "_soft_", `_${ZWSP}soft_${ZWSP}`],
    ["struck text", "~no~", `~${ZWSP}no~${ZWSP}`],
    ["code", "`rm`", `\`${ZWSP}rm\`${ZWSP}`],
    ["an entity", "&lt;!here&gt;", "&amp;lt;!here&amp;gt;"],
    ["several lines", "one\r\ntwo\u2028three", "one two three"],
    ["text that turns the next around", "abc\u202Edef", "abc def"],
  ])("is text: %s", (_title, text, expected) => {
    expect(chatFacts({ message: text })).toEqual({ message: expected });
  });

  test.each<[string, string, string]>([
    ["as it is", "https://ci.test/g/shop/-/pipelines/7?a=1&b=2", "https://ci.test/g/shop/-/pipelines/7?a=1&amp;b=2"],
    ["without markup", "https://ci.test/<!channel>|*x*@all", "https://ci.test/%3C!channel%3E%7C%2Ax%2A%40all"],
    ["only of the web", "javascript:alert(1)", "javascript:alert(1)"],
    ["that is none", "<!here>", "&lt;!here&gt;"],
  ])("is an address %s", (_title, text, expected) => {
    expect(chatFacts({ pipelineUrl: text })).toEqual({ pipelineUrl: expected });
  });
});

test("a fact in an e-mail is one line", () => {
  expect(mailFacts({ environment: "shop\r\nBcc: all@example.test" })).toEqual({
    environment: "shop Bcc: all@example.test",
  });
});
