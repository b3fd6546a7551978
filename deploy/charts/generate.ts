/** Writes the defaults of the platform's chart where its templates can read them; with `--check` fails when they are outdated. */
import { readFileSync } from "node:fs";
import { parse, stringify } from "yaml";
import { generated } from "../../crds/generated.ts";

const HEADER = "# Generated from values.yaml, which helm shows no template: `make generate`.\n";

const values = parse(readFileSync(new URL("platform/values.yaml", import.meta.url), "utf8"));
// Helm reads YAML 1.1, in which on and off are booleans.
generated(
  "deploy/charts/platform/files/defaults.yaml",
  HEADER + stringify(values, { lineWidth: 120, compat: "yaml-1.1" }),
);
