import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Interner } from "../../../../../operator/kit/cache/interner.ts";

describe("what is shared", () => {
  test("is equal to what was given, whatever that is", () => {
    const sharing = new Interner();
    const values = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(values, (value) => {
        const text = JSON.stringify(value);
        const [compacted, given] = [sharing.compact(JSON.parse(text)), JSON.parse(text)];
        expect(compacted).toEqual(given);
        expect(JSON.stringify(compacted)).toBe(JSON.stringify(given));
      }),
    );
  });

  test("is the very same part in all that have it alike, and nothing else is", () => {
    const sharing = new Interner();
    const policy = (name: string) => ({ name, spec: { ports: [{ port: 53 }], selector: { name } } });
    const [one, other] = [sharing.compact(policy("one")), sharing.compact(policy("other"))];
    expect(one.spec.ports).toBe(other.spec.ports);
    expect(one.spec).not.toBe(other.spec);
    expect([one, other]).toEqual([policy("one"), policy("other")]);
  });

  test("is what was given, where that is frozen, because it is shared already", () => {
    const spec = Object.freeze({ ports: [{ port: 53 }] });
    expect(new Interner().compact({ name: "one", spec }).spec).toBe(spec);
  });

  test("is not remembered as a whole when it is long, but its parts are", () => {
    const sharing = new Interner();
    const values = () => ({ spec: { text: "x".repeat(2_048), ports: [{ port: 53 }] } });
    const [one, other] = [sharing.compact(values()), sharing.compact(values())];
    expect(one.spec).not.toBe(other.spec);
    expect(one.spec.ports).toBe(other.spec.ports);
    expect(one).toEqual(values());
  });

  test("is forgotten when it was not met for long, and remembered when it was", () => {
    const sharing = new Interner();
    const [rare, common] = [{ rare: [1] }, { common: [2] }].map((given) => sharing.compact({ given }));
    for (let other = 0; other < 4_000; other += 1) {
      sharing.compact({ given: { other } });
      expect(sharing.compact({ given: { common: [2] } }).given).toBe(common?.given);
    }
    expect(sharing.compact({ given: { rare: [1] } }).given).not.toBe(rare?.given);
  });

  test("is distinguished by names, by order, and by what is a list", () => {
    const sharing = new Interner();
    const alike = [{ a: "1" }, { b: "1" }, { a: 1 }, ["1"], { 0: "1" }, {}, [], { a: {} }, { a: [] }, { a: null }];
    const texts = [...alike, { a: "1", b: "2" }, { b: "2", a: "1" }].map((given) => JSON.stringify({ given }));
    for (let round = 0; round < 2; round += 1) {
      expect(texts.map((text) => JSON.stringify(sharing.compact(JSON.parse(text))))).toEqual(texts);
    }
  });
});
