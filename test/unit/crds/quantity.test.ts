import { describe, expect, test } from "@jest/globals";
import { canonicalQuantity } from "../../../crds/quantity.ts";
import { QUANTITY_SPELLINGS } from "../../support/fixtures/quantity-spellings.ts";

describe("a quantity", () => {
  test.each(QUANTITY_SPELLINGS)("%s is %s, which stays what it is", (given, expected) => {
    expect(canonicalQuantity(given)).toBe(expected);
    expect(canonicalQuantity(expected)).toBe(expected);
  });

  test.each(["", "-1", "four", "1 Gi", "1gi", "1KiB", "1e", "e3", ".", "1e999", "1,5"])("is not %j", (text) => {
    expect(() => canonicalQuantity(text)).toThrow(TypeError);
  });
});
