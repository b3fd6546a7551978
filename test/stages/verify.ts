import pLimit from "p-limit";
import { bin, node, outputOf } from "./command.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";

/** Two at a time; the longest begins first. */
const checks: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ["promises and circles of imports", bin("oxlint"), "--type-aware", "--deny-warnings"],
  ["import zones and circles of folders", node, "test/lint/imports.ts"],
  ["first words of docstrings", node, "test/lint/docstrings.ts"],
  ["retired words", node, "test/lint/words.ts"],
  ["names in CONTRIBUTING and decisions", node, "test/lint/document-names.ts"],
  ["generated CRDs", node, "crds/generate.ts", "--check"],
  ["generated OpenAPI document", node, "api/generate.ts", "--check"],
  ["generated table of metrics", node, "operator/adapters/prometheus/generate.ts", "--check"],
  ["generated table of settings", node, "config/generate.ts", "--check"],
  ["generated table of rights", node, "operator/installation/generate.ts", "--check"],
  ["generated dashboards", node, "deploy/dashboards/generate.ts", "--check"],
  ["generated defaults of the chart", node, "deploy/charts/generate.ts", "--check"],
  ["generated types of the client", node, "clients/sdk/generate.ts", "--check"],
  ["generated tools of the command line", node, "clients/cli/mcp/generate.ts", "--check"],
  ["types", bin("tsc"), "-p", "."],
  ["types of the console", bin("tsc"), "-p", "clients/console"],
  ["types of the console's stories", bin("tsc"), "-p", "e2e/console"],
  ["format and lint", bin("biome"), "ci", "--colors=off", "--error-on-warnings", "."],
];

/** Generated files, types, lint and format. */
export function verify(): Promise<Outcome[]> {
  return pLimit(2).map(checks, async ([title, command, ...args]) => {
    const { ok, output } = await outputOf(command, args);
    console.log(`${ok ? "ok  " : "FAIL"} ${title}`);
    if (ok) return outcomeOf("verify", { passed: 1 });
    console.log(output);
    return outcomeOf("verify", { failures: [{ title, message: output }] });
  });
}
