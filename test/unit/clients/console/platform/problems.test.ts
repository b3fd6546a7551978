import { describe, expect, test } from "@jest/globals";
import { sentenceOf, violationAt, violationsOf } from "../../../../../clients/console/platform/problems.ts";
import { errorOf } from "../../../../../clients/sdk/platform-error.ts";

const VIOLATIONS = [
  { field: "ttl", message: "must be at most 168" },
  { field: "config_overrides.helm_values.backend", message: "must be an object" },
];
const refusal = () =>
  errorOf(Response.json({ detail: "ttl must be at most 168", violations: VIOLATIONS }, { status: 400 }));

describe("a failure", () => {
  test("is shown in the platform's sentence", async () => {
    expect(sentenceOf(await refusal())).toBe("ttl must be at most 168");
  });

  test("of the network is shown as what it means to the reader", () => {
    expect(sentenceOf(new TypeError("Failed to fetch"))).toMatch(/does not answer/);
  });

  test("is shown at the field that it names, and at the one that holds it", async () => {
    const violations = violationsOf(await refusal());
    expect(violationAt(violations, "ttl")).toBe("Must be at most 168.");
    expect(violationAt(violations, "config_overrides")).toBe("config_overrides.helm_values.backend must be an object.");
    expect(violationAt(violations, "config_set")).toBeUndefined();
    // Another name with the same beginning is another field.
    expect(violationAt([{ field: "ttl_hours", message: "is missing" }], "ttl")).toBeUndefined();
  });

  test("that is no refusal names no field", () => {
    expect(violationsOf(new TypeError("Failed to fetch"))).toEqual([]);
  });
});
