/** Program of the platform: the process of the operator with the REST API, the gate's, and the checks. */

import { parseArgs } from "node:util";
import { readSettings, type Settings, SettingsInvalid } from "../config/settings.ts";
import { kubeConfigOf, stopSignal } from "./process.ts";

const usage = `Usage: main.ts [gate|check-installation|check-removal] --settings FILE

The Ephemeral Environment Platform: reconciles EphemeralEnvironment resources and serves the REST API.

  --settings FILE      the settings, in YAML (docs/settings.md describes them)
  gate                 answers instead for hosts of environments that sleep, and wakes them
  check-installation   says instead whether the kinds are served, the rights sufficient and the policies in force
  check-removal        says instead whether environments are left, which only the platform looks after
  --api-url URL        has check-installation also ask the REST interface there, such as http://platform.ephemeral-system
  --help               this text

The cluster is the one of KUBECONFIG, or the one that the process runs in.
`;

/** A command, given the settings and the file that they come from. Its modules are loaded for it alone. */
type Command = (settings: Settings, file: string) => Promise<void>;

const COMMANDS: Readonly<Record<string, Command>> = {
  run: async (settings, file) => (await import("./run.ts")).run(settings, file),
  gate: async (settings, file) => (await import("./run-gate.ts")).runGate(settings, file),
  "check-installation": (settings) => check("checkInstallation", settings),
  "check-removal": (settings) => check("checkRemoval", settings),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { settings: { type: "string" }, "api-url": { type: "string" }, help: { type: "boolean" } },
});
const [name = "run", ...surplus] = positionals;
const command = surplus.length === 0 && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (values.help || values.settings === undefined || command === undefined) {
  process.stdout.write(usage);
  process.exit(values.help ? 0 : 2);
}
await command(readSettingsOrExit(values.settings), values.settings);

async function check(of: "checkInstallation" | "checkRemoval", settings: Settings): Promise<void> {
  const checks = await import("./installation/check-installation.ts");
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const options = { settings, kubeConfig: await kubeConfigOf(process.env), signal: stopSignal(), print };
  process.exitCode = (await checks[of]({ ...options, apiUrl: values["api-url"] })) ? 0 : 1;
}

function readSettingsOrExit(path: string): Settings {
  try {
    return readSettings(path);
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}
