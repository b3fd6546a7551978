import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readValues } from "../../../../crds/chart-values/mapping.ts";
import {
  callOf,
  KNOWN_REFERENCES_CEL,
  REFERENCES,
  REFERENCES_SENTENCE,
  UNKNOWN_REFERENCE_CEL,
} from "../../../../crds/chart-values/references.ts";

/** The API server's pattern, which it reads as JavaScript does. */
const pattern = new RegExp(/matches\(r'(.*)'\)$/s.exec(KNOWN_REFERENCES_CEL)?.[1] ?? "no pattern");

describe("the one table of references", () => {
  test("is what the API server knows", () => {
    for (const { name } of REFERENCES) {
      const written = name.replace("(n)", "(7)").replace("<name>", "admin");
      expect(callOf(written)?.reference.name).toBe(name);
      expect(pattern.test(`a: \${${written}}`)).toBe(true);
      expect(pattern.test(`a: \${${written}!}`)).toBe(false);
    }
  });

  test("is what a refusal lists", () => {
    for (const { name } of REFERENCES) expect(REFERENCES_SENTENCE).toContain(` ${name}`);
    expect(UNKNOWN_REFERENCE_CEL).toContain(REFERENCES_SENTENCE);
  });

  test("is what the page about charts shows", () => {
    const page = readFileSync(new URL("../../../../docs/charts.md", import.meta.url), "utf8");
    const backend = REFERENCES.filter(({ name }) => !name.startsWith("frontend."));
    const rows = backend.map(({ name, type, description }) => `| \`\${${name}}\` | ${type} | ${description} |`);
    expect(page).toContain(`\n${rows.join("\n")}\n\n`);
  });

  test("gives no value of a secret", () => {
    const named = REFERENCES.filter(({ name }) => /secret|password|token|key/i.test(name)).map(({ name }) => name);
    expect(named).toEqual(["secret.name", "imagePullSecrets"]);
  });

  test.each([
    "",
    "backend",
    "backend.images",
    "Backend.image",
    "backend.image ",
    "replicas.orZero()",
    "replicas.orZero(01)",
    "replicas.orZero(-1)",
    "constructor",
    "__proto__",
    "backend.constructor",
    "hosts",
    "hosts.",
    "hosts.Admin",
    "hosts.admin.",
    "hosts.admin.port",
    "hosts.-admin",
    "hosts.admin-",
    "hosts.a-name-of-12",
    "hosts.admin.url.url",
  ])("has no '%s'", (written) => expect(callOf(written)).toBeUndefined());
});

test("the API server and the reader of texts agree about what is known", () => {
  const parts = fc.constantFrom(
    "$",
    "$$",
    "{",
    "}",
    "x",
    "backend.image",
    "${backend.image}",
    "${suspended}",
    "${hosts.admin}",
    "${hosts.no",
    "${no}",
    "\n",
    "n)",
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 12 }), (signs) => {
      const text = signs.join("");
      const read = readValues(JSON.stringify({ a: text }));
      const isKnown = !("problem" in read && read.problem.includes("is not known"));
      expect(pattern.test(text)).toBe(isKnown);
    }),
    { numRuns: 2_000 },
  );
});
