/** Writes `docs/settings.md`; with `--check` fails instead when it is outdated. */
import { code, generated, tableRow } from "../crds/generated.ts";
import { settingRows } from "./setting-rows.ts";
import { Settings } from "./settings.schema.ts";

const HEAD = `# Settings

<!-- Written by config/generate.ts: run 'make generate' after a change. -->

Every setting of the platform: what the chart takes as \`settings\`, and \`operator/main.ts\` as \`--settings FILE\`. They are read once, at the start;
the process does not start with a setting that is wrong or unknown, and names all that is. \`logLevel\` alone is followed without a restart.
[deploy/examples/settings.yaml](../deploy/examples/settings.yaml) is a file to start from; the values of the chart itself are in
[its README](../deploy/charts/platform/README.md).

In a pod, the chart sets \`namespace\`, and unless you do, \`api.host\` and \`probes.host\` to every address of the pod, \`api.settleSeconds\` to 5 and
\`api.trustedProxyHops\` to 1. Secrets never stand here: settings name files, or ids of the secret manager.

\`[]\` after a name stands for each entry of a list. What is **required** has no default; below an optional setting, it is required where that is set.
A [NetworkPolicyPeer](https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/network-policy-v1/) is written as Kubernetes has it.
`;

const content = [
  HEAD,
  tableRow(["Setting", "Type", "Default", "Meaning"]),
  tableRow(Array(4).fill("---")),
  ...settingRows(Settings).map(({ path, type, fallback, meaning }) => tableRow([code(path), type, fallback, meaning])),
  "",
].join("\n");

generated("docs/settings.md", content);
