import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Sharing } from "../../../../operator/kit/sharing.ts";

describe("what is shared", () => {
  test("is equal to what was given, whatever that is", () => {
    const sharing = new Sharing();
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
    const sharing = new Sharing();
    const policy = (name: string) => ({ name, spec: { ports: [{ port: 53 }], selector: { name } } });
    const [one, other] = [sharing.compact(policy("one")), sharing.compact(policy("other"))];
    expect(one.spec.ports).toBe(other.spec.ports);
    expect(one.spec).not.toBe(other.spec);
    expect([one, other]).toEqual([policy("one"), policy("other")]);
  });

  test("is never the object that was given", () => {
    const given = { spec: { a: 1 } };
    expect(new Sharing().compact(given).spec).not.toBe(given.spec);
  });
});
