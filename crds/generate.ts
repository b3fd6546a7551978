/** Writes the CustomResourceDefinitions beside this file; with `--check` fails instead when they are not up to date. */
import { readFileSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import { customResourceDefinitions } from "./definitions.ts";

// Helm and kubectl read YAML 1.1, where a plain `on` is true.
const HEADER = "# Generated from the schemas beside it: `make generate`.\n";
const check = process.argv.includes("--check");

for (const [file, manifest] of customResourceDefinitions()) {
  const path = new URL(file, import.meta.url);
  const wanted = HEADER + stringify(manifest, { version: "1.1", lineWidth: 120, aliasDuplicateObjects: false });
  if (!check) writeFileSync(path, wanted);
  else if (read(path) !== wanted) {
    console.error(`crds/${file} is not up to date: run 'make generate' and commit the result`);
    process.exitCode = 1;
  }
}

function read(path: URL): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
