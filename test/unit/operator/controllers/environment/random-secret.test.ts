import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { SecretKind } from "../../../../../crds/repository/repository.ts";
import { randomSecret } from "../../../../../operator/controllers/environment/secret-values.ts";

const make = (kind: SecretKind, length: number) => randomSecret({ name: "A", kind, length }).reveal();
const lengths = fc.integer({ min: 16, max: 256 });

describe("a generated value", () => {
  test.each([
    ["password", /^[A-Za-z0-9]+$/],
    ["key", /^[A-Za-z0-9_-]+$/],
    ["token", /^[0-9a-f]+$/],
  ] as const)("%s has its letters and exactly its length", (kind, letters) => {
    fc.assert(
      fc.property(lengths, (length) => {
        const value = make(kind, length);
        expect(value).toMatch(letters);
        expect(value).toHaveLength(length);
      }),
    );
  });

  test("uuid is one of version 4, whatever the length", () => {
    expect(make("uuid", 16)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test("is another one each time, and uses all its letters", () => {
    for (const kind of ["password", "key", "token", "uuid"] as const) {
      const made = Array.from({ length: 500 }, () => make(kind, 16));
      expect(new Set(made).size).toBe(500);
    }
    const letters = new Set(Array.from({ length: 200 }, () => make("password", 256)).join(""));
    expect(letters.size).toBe(62);
  });
});
