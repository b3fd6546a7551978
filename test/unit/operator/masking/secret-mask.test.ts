import { describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { yieldIfDue } from "../../../../operator/kit/time/yield-if-due.ts";
import {
  type Mask,
  MOST_VALUE_CHARACTERS,
  SecretMasks,
  TooMuchToMask,
} from "../../../../operator/masking/secret-mask.ts";
import { seededRandom } from "../../../support/faults/seeded-random.ts";

// Long work yields, and then takes long.
jest.setTimeout(60_000);

const VALUE = 'p@ss w/rd"1\\é';
const KEY = "-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG\nAbCdEfGh12345678\n-----END KEY-----\n";

const maskOf = (values: Iterable<string>) => new SecretMasks(yieldIfDue).of(values);
const masked = (text: string, values: Iterable<string>) => maskOf(values)(text);

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const cases: readonly { name: string; text: string; values?: readonly string[]; expected: string }[] = [
  { name: "a text without values stays", text: "listening on 8080", expected: "listening on 8080" },
  { name: "as it is", text: `login(${VALUE})`, expected: "login(***)" },
  { name: "twice", text: `${VALUE}${VALUE}`, expected: "***" },
  {
    name: "with and without the blanks around it",
    text: "( secret-1\n)(secret-1)",
    values: [" secret-1\n"],
    expected: "(***\n)(***)",
  },
  { name: "two that overlap in the text", text: "-abcd-", values: ["abc", "bcd"], expected: "-***-" },
  { name: "in a URL", text: `postgres://u:${encodeURIComponent(VALUE)}@db`, expected: "postgres://u:***@db" },
  { name: "in a URL in lower case", text: encodeURIComponent(VALUE).toLowerCase(), expected: "***" },
  {
    name: "in a form",
    text: `password=${new URLSearchParams({ v: VALUE }).toString().slice(2)}&a=b`,
    expected: "password=***&a=b",
  },
  { name: "in JSON", text: JSON.stringify({ password: VALUE }), expected: '{"password":"***"}' },
  {
    name: "in hexadecimal",
    text: Buffer.from(VALUE).toString("hex"),
    expected: "***",
  },
  { name: "in upper-case hexadecimal", text: Buffer.from(VALUE).toString("hex").toUpperCase(), expected: "***" },
  { name: "torn apart by a colour", text: 'p@ss \u001b[31mw/rd"1\\é\u001b[0m!', expected: "***!" },
  { name: "torn apart by a zero-width character", text: 'p@ss w/\u200brd"1\\é', expected: "***" },
  {
    name: "a line of a value of many lines",
    text: "could not parse MIIBVgIBADANBgkqhkiG",
    values: [KEY],
    expected: "could not parse ***",
  },
  {
    name: "a value of many lines line by line, so that no line is lost",
    text: `one\n${KEY}two`,
    values: [KEY],
    expected: "one\n***\n***\n***\n***\ntwo",
  },
  {
    name: "the longer of two values that begin alike",
    text: "secret-one-two",
    values: ["secret", "secret-one-two"],
    expected: "***",
  },
  {
    name: "what a regular expression would read as its own",
    text: "a.b*c(d axbxc",
    values: ["a.b*c(d"],
    expected: "*** axbxc",
  },
  { name: "an empty value masks nothing", text: "abc", values: [""], expected: "abc" },
  {
    name: "a terminal's window gets no title",
    text: "a\u001b]0;title\u0007b\u001b]0;t\u001b\\c\n[d]",
    expected: "abc\n[d]",
  },
  { name: "control characters and carriage returns go", text: "a\u0000b\r\nc\td\u202ee", expected: "ab\nc de" },
];

describe("what a container said, with every value of its secrets masked", () => {
  test.each(cases)("$name", async ({ text, values = [VALUE], expected }) => {
    expect(await masked(text, values)).toBe(expected);
  });

  test("in base64, wherever in the encoded text it begins, in either alphabet", async () => {
    for (const before of ["", "a", "ab", "abc"]) {
      for (const encoding of ["base64", "base64url"] as const) {
        const inside = Buffer.from(VALUE).toString("base64").slice(4, 12);
        const shown = await masked(Buffer.from(`${before}${VALUE}tail`).toString(encoding), [VALUE]);
        expect(shown).toContain("***");
        expect(shown).not.toContain(inside);
      }
    }
  });

  test("whatever the value and what surrounds it, it is nowhere in the result", async () => {
    const value = fc
      .string({ unit: "binary", minLength: 4, maxLength: 40 })
      .filter((text) => text.trim() !== "" && !"***".includes(text));
    await fc.assert(
      fc.asyncProperty(value, fc.string(), fc.string(), async (secret, before, after) => {
        expect(await masked(`${before}${secret}${after}`, [secret])).not.toContain(secret);
      }),
    );
  });

  test("has as many lines as before, whatever the value", async () => {
    const text = fc.string({ unit: "binary" }).map((said) => said.replaceAll("\r", ""));
    await fc.assert(
      fc.asyncProperty(text, text, text, async (secret, before, after) => {
        const said = `${before}${secret}${after}`;
        expect((await masked(said, [secret])).split("\n")).toHaveLength(said.split("\n").length);
      }),
    );
  });

  const random = seededRandom(1);
  const noise = (length: number) => Array.from({ length }, () => ALPHABET[Math.floor(random() * 64)]).join("");
  const forms: readonly (readonly [name: string, form: (value: string) => string])[] = [
    ["as it is", (value) => value],
    ["in JSON", (value) => JSON.stringify(value).slice(1, -1)],
    ["in a URL", encodeURIComponent],
    ["in hexadecimal", (value) => Buffer.from(value).toString("hex")],
    ["in base64", (value) => Buffer.from(value).toString("base64url")],
    ["in base64 that begins before it", (value) => Buffer.from(`x${value}`).toString("base64")],
  ];

  test.each(forms)(
    "of 64 KiB, whole %s, leaves nothing of it but what the encoding mixes with its neighbours",
    async (_form, form) => {
      const long = noise(65_536);
      expect(await masked(`<${form(long)}>`, [long])).toMatch(/^<.{0,2}\*\*\*.{0,2}>$/);
    },
  );

  test("of 64 KiB in lines is masked line by line, and in the middle of one long line", async () => {
    const pem = Array.from({ length: 1_000 }, () => noise(64)).join("\n");
    const line = noise(65_536);
    const text = `could not parse ${pem.split("\n")[777]} and ${line.slice(30_000, 32_000)}`;
    const shown = await masked(text, [pem, line]);
    expect(shown).toMatch(/^could not parse \*\*\* and .{0,256}\*\*\*.{0,256}$/);
  });

  test("of large Secrets leaves others their turns", async () => {
    const values = Array.from({ length: 20 }, () => noise(16_384));
    let turns = 0;
    let isOver = false;
    const others = () => {
      turns += 1;
      if (!isOver) setImmediate(others);
    };
    setImmediate(others);
    const shown = await masked(`one ${values[3]} two`, values);
    isOver = true;
    expect(shown).toBe("one *** two");
    expect(turns).toBeGreaterThan(1);
  });

  test("of many values leaves nothing of any", async () => {
    const values = Array.from({ length: 20 }, () => noise(4_096));
    const said = values.map((value) => `${value} ${encodeURIComponent(value)}`).join("\n");
    expect(await masked(said, values)).toBe(Array(20).fill("*** ***").join("\n"));
  });

  test("is masked in one text after the other", async () => {
    const mask = maskOf(["pass/word one"]);
    for (const said of ["pass/word one", '"pass\\/word one"', "nothing", "pass%2Fword%20one", "pass/word one"]) {
      expect(await mask(`${said}, ${said}`)).toBe(await masked(`${said}, ${said}`, ["pass/word one"]));
    }
    expect(await mask("pass/word one")).toBe("***");
  });

  const repeated = (text: string, characters: number) =>
    text.repeat(Math.ceil(characters / text.length)).slice(0, characters);

  test("abuse 90: of repeated lines takes no more room than the text, however often they overlap in long lines", async () => {
    const values = ["aaaaaaa\n", "aaaaaaaa\n", "a/a/a/a/\n"].map((line) => repeated(line, 4_096));
    const log = [repeated("a", 15_000), repeated("a%2Fa/", 15_000), repeated("b", 15_000)];
    const text = Array(20).fill(log).flat();
    const shown = (await masked(text.join("\n"), values)).split("\n");
    expect(shown.filter((line) => line === "***")).toHaveLength(40);
    expect(shown.filter((line) => line === log[2])).toHaveLength(20);
  });

  test("abuse 90: that can be read in too many ways in a text are refused in that one", async () => {
    const value = Array.from({ length: 2_000 }, () => (random() < 0.5 ? "%" : "%25")).join("");
    const mask = maskOf([value]);
    const outcome = await mask(repeated("%25", 200_000)).catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(TooMuchToMask);
    expect(await mask("fine")).toBe("fine");
  });

  test("abuse 90: of more characters than may be looked for is refused before anything is prepared", async () => {
    const mask = maskOf([noise(MOST_VALUE_CHARACTERS), "x"]);
    await expect(mask("x")).rejects.toThrow(TooMuchToMask);
  });

  test("abuse 90: large ones are masked one text after the other, for all callers", async () => {
    const values = Array.from({ length: 3 }, () => noise(8_192));
    const large = new SecretMasks(yieldIfDue);
    const masks = values.map((value) => large.of([value]));
    const shown = await Promise.all(masks.flatMap((mask) => values.map((value) => mask(value.slice(0, 1_000)))));
    expect(shown.map((text) => text.startsWith("***"))).toEqual(
      [0, 1, 2].flatMap((own) => [0, 1, 2].map((at) => at === own)),
    );
  });

  test("abuse 90: large ones are prepared once for all that mask the same, however they take turns", async () => {
    const masks = new SecretMasks(yieldIfDue);
    const values = [noise(4_096), noise(4_096)];
    const [one, two] = [masks.of(values), masks.of([...values].reverse())];
    for (const mask of [one, two, one, two, masks.of(values)]) expect(await mask(`<${values[1]}>`)).toBe("<***>");
    expect(masks.prepared).toBe(1);
  });

  test("abuse 90: large ones stay prepared for all who take turns, while there is room for them", async () => {
    const masks = new SecretMasks(yieldIfDue, 10_000);
    const values = Array.from({ length: 3 }, () => noise(4_096));
    const [one, two, three] = values.map((value) => masks.of([value])) as [Mask, Mask, Mask];
    for (const mask of [one, two, one, two, one]) await mask("nothing");
    expect(masks.prepared).toBe(2);
    await three("nothing");
    expect(masks.prepared).toBe(3);
    await one("nothing");
    expect(masks.prepared).toBe(3);
    expect(await two(`<${values[1]}>`)).toBe("<***>");
    expect(masks.prepared).toBe(4);
  });

  test("abuse 90: large ones of some readers delay no others'", async () => {
    const [busy, others] = [new SecretMasks(yieldIfDue), new SecretMasks(yieldIfDue)];
    const value = noise(3_000);
    let isLineDone = false;
    const line = Promise.all(Array.from({ length: 10 }, () => busy.of([noise(20_000)])("nothing"))).then(() => {
      isLineDone = true;
    });
    expect(await others.of([value])(value)).toBe("***");
    expect(isLineDone).toBe(false);
    await line;
  });
});
