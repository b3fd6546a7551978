import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "@jest/globals";

const checkout = resolve(import.meta.dirname, "../../../..");
const text = readFileSync(join(checkout, "docs/threat-model.md"), "utf8");

test("each answer of the threat model is shown by a test or a document that is there", () => {
  const rows = text.split("\n").filter((line) => /^\| [STRIDE] \|/.test(line));
  expect(rows.length).toBeGreaterThan(30);
  const shown = rows.map((row) => ({ row, by: row.split("|").at(-2) ?? "" }));
  for (const { row, by } of shown) {
    const tests = [...by.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, path = ""]) => path);
    expect({ row, hasTests: tests.length > 0 }).toEqual({ row, hasTests: true });
    expect(tests.filter((path) => !existsSync(join(checkout, path)))).toEqual([]);
  }
});

test("each policy that the threat model names is one of the chart", () => {
  const cells = [...text.matchAll(/polic(?:y|ies) ((?:`[a-z-]+`(?:, )?)+)/g)].map(([, names = ""]) => names);
  const names = cells.flatMap((cell) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name = ""]) => name));
  expect(names.length).toBeGreaterThan(8);
  const policies = join(checkout, "deploy/charts/platform/templates/policies");
  // Further policies of a family are written as suffixes.
  const isThere = (name: string) => existsSync(join(policies, `${name.replace(/^-/, "environment-")}.yaml`));
  expect(names.filter((name) => !isThere(name))).toEqual([]);
});
