import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { productionPackages } from "../../../../deploy/image/dependencies.ts";
import packageJson from "../../../../package.json" with { type: "json" };

const lockFile = join(resolve(import.meta.dirname, "../../../.."), "package-lock.json");

describe("the packages of the image", () => {
  test.each([
    ["are those that the project depends on, however indirectly", { a: ["b"], b: ["c"], c: [] }, ["a", "b", "c"]],
    ["include circles once", { a: ["b"], b: ["a"] }, ["a", "b"]],
    ["are no others", { a: [], other: ["a"] }, ["a"]],
  ])("%s", (_, graph, expected) => {
    const folders = Object.entries(graph).map(([name, names]) => [`node_modules/${name}`, dependingOn(...names)]);
    const packages = { "": dependingOn("a"), ...Object.fromEntries(folders) };
    expect(productionPackages(packages)).toEqual(expected.map((name) => `node_modules/${name}`));
  });

  test("are found where Node finds them: the nearest first", () => {
    const packages = {
      "": dependingOn("a", "@scope/b"),
      "node_modules/a": dependingOn("c"),
      "node_modules/a/node_modules/c": dependingOn("d"),
      "node_modules/@scope/b": dependingOn("c"),
      "node_modules/c": {},
      "node_modules/d": {},
    };
    expect(productionPackages(packages)).toEqual(Object.keys(packages).filter(Boolean).sort());
  });

  test("include needed peers, and optional ones only of packages that depend on them", () => {
    const packages = {
      "": dependingOn("a"),
      "node_modules/a": {
        peerDependencies: { needed: "1", wished: "1" },
        peerDependenciesMeta: { wished: { optional: true } },
      },
      "node_modules/needed": {},
      "node_modules/wished": {},
    };
    expect(productionPackages(packages)).toEqual(["node_modules/a", "node_modules/needed"]);
  });

  test("leave out what finished files were built from", () => {
    const packages = {
      "": dependingOn("redoc"),
      "node_modules/redoc": dependingOn("react"),
      "node_modules/react": {},
    };
    expect(productionPackages(packages)).toEqual(["node_modules/redoc"]);
  });

  test("are all production packages of the lock file, and every dependency of ours is among them", async () => {
    const { packages } = JSON.parse(await readFile(lockFile, "utf8"));
    const found = productionPackages(packages);
    expect(found.filter((folder) => packages[folder].dev || packages[folder].devOptional)).toEqual([]);
    expect(found).toEqual(
      expect.arrayContaining(Object.keys(packageJson.dependencies).map((name) => `node_modules/${name}`)),
    );
  });
});

function dependingOn(...names: readonly string[]) {
  return { dependencies: Object.fromEntries(names.map((name) => [name, "1"])) };
}
