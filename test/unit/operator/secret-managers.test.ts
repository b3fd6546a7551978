import { describe, expect, test } from "@jest/globals";
import { installationLabel } from "../../../operator/secret-managers.ts";

describe("the label of an installation", () => {
  test.each([
    ["env.example.test", "env_example_test"],
    ["env.localhost", "env_localhost"],
    ["Env.Example.test", "env_example_test"],
  ])("of %s is %s", (baseDomain, expected) => {
    expect(installationLabel(baseDomain)).toBe(expected);
  });

  test("is one that Google takes, and another for every domain, however long or strange", () => {
    const domains = [`${"a".repeat(60)}.test`, `${"a".repeat(61)}.test`, "ä.test", "ö.test"];
    const labels = domains.map(installationLabel);
    for (const label of labels) expect(label).toMatch(/^[a-z0-9_-]{1,63}$/);
    expect(new Set(labels).size).toBe(4);
  });
});
