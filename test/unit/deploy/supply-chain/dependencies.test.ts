import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "@jest/globals";
import packageJson from "../../../../package.json" with { type: "json" };

const checkout = resolve(import.meta.dirname, "../../../..");
const read = (path: string) => readFileSync(join(checkout, path), "utf8");

interface Locked {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
}

function locked(path: string): [string, Locked][] {
  const { packages } = JSON.parse(read(path)) as { packages: Record<string, Locked> };
  return Object.entries(packages).filter(([folder, { link }]) => folder !== "" && !link);
}

const LOCK_FILES = ["package-lock.json", "deploy/local/programs/postgresql/package-lock.json"];
const declared = { ...packageJson.dependencies, ...packageJson.devDependencies };

test("each dependency is pinned to one version", () => {
  const loose = Object.entries(declared).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version));
  expect(loose).toEqual([]);
});

test("each dependency has a sentence in CONTRIBUTING", () => {
  const [, reasons = ""] = read("CONTRIBUTING.md").split("## Dependencies");
  const named = [...reasons.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  // Types and parts belong to their package: jest-mock and @jest/types to jest, @octokit/plugin-… to @octokit/core.
  const families = named.flatMap((name) => [
    `${name}-`,
    name.startsWith("@") ? name.replace(/[^/]*$/, "") : `@${name}/`,
  ]);
  const isNamed = (name: string) =>
    name.startsWith("@types/") || named.includes(name) || families.some((family) => name.startsWith(family));
  expect(Object.keys(declared).filter((name) => !isNamed(name))).toEqual([]);
});

test.each(LOCK_FILES)("%s names every package by its hash, and no registry", (path) => {
  const packages = locked(path);
  expect(packages.length).toBeGreaterThan(0);
  // Without an address, npm uses its configured registry, and compares the hash.
  expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  expect(packages.filter(([, { integrity = "" }]) => !integrity.startsWith("sha512-"))).toEqual([]);
});

test("each package with an install script has a decision, and only Node's is run", () => {
  const names = locked("package-lock.json").flatMap(([folder, { hasInstallScript }]) =>
    hasInstallScript ? [folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length)] : [],
  );
  const decided: Readonly<Record<string, boolean>> = packageJson.allowScripts;
  expect(names.filter((name) => decided[name] === undefined)).toEqual([]);
  expect(Object.keys(decided).filter((name) => decided[name])).toEqual(["node"]);
});
