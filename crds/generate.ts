/** Writes the CustomResourceDefinitions beside this file; with `--check` fails instead when they are not up to date. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import { customResourceDefinitions } from "./definitions.ts";

const HEADER = "# Generated from the schemas beside it: `make generate`.\n";
const check = process.argv.includes("--check");

for (const [file, manifest] of customResourceDefinitions()) {
  const path = new URL(file, import.meta.url);
  const wanted = HEADER + stringify(manifest, { lineWidth: 120, aliasDuplicateObjects: false, compat: "yaml-1.1" });
  if (!check) writeFileSync(path, wanted);
  else if (!existsSync(path) || readFileSync(path, "utf8") !== wanted) {
    console.error(`crds/${file} is not up to date: run 'make generate' and commit the result`);
    process.exitCode = 1;
  }
}
