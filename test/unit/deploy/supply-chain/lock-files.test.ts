import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "@jest/globals";

const checkout = resolve(import.meta.dirname, "../../../..");

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The folder in which the package at `from` finds that name: in its own node_modules, or in one above. */
function placeOf(name: string, from: string, packages: Readonly<Record<string, Locked>>): string | undefined {
  const parents = from
    .split("/node_modules/")
    .map((_, index, parts) => parts.slice(0, index + 1).join("/node_modules/"));
  const places = ["", ...parents].map((parent) => `${parent && `${parent}/`}node_modules/${name}`);
  return places.findLast((place) => place in packages);
}

describe.each(["package-lock.json", "deploy/local/programs/postgresql/package-lock.json"])("%s", (file) => {
  // npm adds what is missing when it installs, and `npm ci` refuses.
  test("has the packages of every platform", () => {
    const { packages } = JSON.parse(readFileSync(resolve(checkout, file), "utf8")) as {
      readonly packages: Readonly<Record<string, Locked>>;
    };
    const missing = Object.entries(packages).flatMap(([from, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => placeOf(name, from, packages) === undefined)
        .map((name) => `${name} of ${from}`),
    );
    expect(missing).toEqual([]);
  });
});
