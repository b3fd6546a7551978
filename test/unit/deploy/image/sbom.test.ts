import { glob, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { BUNDLED } from "../../../../deploy/image/dependencies.ts";
import { readPins } from "../../../../deploy/image/pins.ts";
import { type BillOfMaterials, billOfMaterials } from "../../../../deploy/image/sbom.ts";
import packageJson from "../../../../package.json" with { type: "json" };

/** Licences that allow redistribution in an image under Apache-2.0, with attribution as the only condition. */
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "MIT-0",
  "PSF-2.0",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);

/** True when an SPDX expression without nested parentheses leaves a choice of allowed licences. */
function isAllowed(expression: string): boolean {
  const choices = expression.replaceAll(/[()]/g, "").split(" OR ");
  return choices.some((choice) => choice.split(" AND ").every((licence) => ALLOWED.has(licence)));
}

const checkout = resolve(import.meta.dirname, "../../../..");
let bill: BillOfMaterials;
beforeAll(async () => {
  bill = await billOfMaterials();
});

test("every package in the image has a licence under which it may be passed on", () => {
  const ofNpm = bill.components.filter(({ purl }) => purl.startsWith("pkg:npm/"));
  const refused = ofNpm.filter(({ licenses }) => !isAllowed(licenses?.[0]?.expression ?? "none"));
  expect(refused.map(({ name, licenses }) => `${name}: ${licenses?.[0]?.expression}`)).toEqual([]);
  expect(isAllowed("(GPL-3.0-only AND MIT)")).toBe(false);
  expect(isAllowed("(MPL-2.0 OR Apache-2.0)")).toBe(true);
});

describe("the bill of materials", () => {
  test("names each of our dependencies, Node, and the packages of Debian", async () => {
    const served = ["redoc", "swagger-ui-dist"];
    const names = bill.components.map(({ name }) => name);
    const debian = (await readPins()).packages.map(({ name }) => name);
    const ours = Object.keys(packageJson.dependencies);
    expect(names).toEqual(expect.arrayContaining([...ours, ...served, ...debian, "node"]));
    expect(names).not.toEqual(expect.arrayContaining(["jest"]));
  });

  test("names what the command line and the web console are compiled from, with what that needs", async () => {
    const patterns = ["clients/{cli,sdk}/**/*.ts", "clients/console/main.tsx", "clients/console/[!d]*/*.{ts,tsx}"];
    const files = await Array.fromAsync(glob(patterns, { cwd: checkout, exclude: ["**/node_modules/**"] }));
    const sources = await Promise.all(files.map((file) => readFile(join(checkout, file), "utf8")));
    const imported = sources.flatMap((text) => [...text.matchAll(/(?:from |import\()"((?:@[\w-]+\/)?[\w-]+)[/"]/g)]);
    const names = new Set(imported.map(([, name]) => name));
    const others = [...names].filter((name) => name !== undefined && !(name in packageJson.dependencies));
    expect(others.sort()).toEqual(BUNDLED);
    expect(bill.components.map(({ name }) => name)).toEqual(expect.arrayContaining([...BUNDLED, "zod"]));
  });

  test("has a hash and a version of each, nothing twice, and is the same when made again", async () => {
    for (const component of bill.components) {
      expect(component).toMatchObject({
        version: expect.stringMatching(/\d/),
        hashes: [{ content: expect.any(String) }],
      });
    }
    expect(new Set(bill.components.map(({ purl }) => purl)).size).toBe(bill.components.length);
    expect(await billOfMaterials()).toEqual(bill);
  });
});
