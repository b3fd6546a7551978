/**
 * Writes the CustomResourceDefinitions into the chart that installs them, as files of its own: archives and checkouts lose links. With
 * `--check` fails instead when they are outdated.
 */
import { stringify } from "yaml";
import { customResourceDefinitions } from "./definitions.ts";
import { generated } from "./generated.ts";

const HEADER = "# Generated from the schemas in crds/: `make generate`.\n";

for (const [file, manifest] of customResourceDefinitions()) {
  // Helm and kubectl read YAML 1.1, in which on and off are booleans.
  generated(
    `deploy/charts/platform/definitions/${file}`,
    HEADER + stringify(manifest, { lineWidth: 120, aliasDuplicateObjects: false, compat: "yaml-1.1" }),
  );
}
