import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Settings } from "../../../config/settings.ts";
import { sha256 } from "../../../crds/digest.ts";
import { answersWell } from "../../build/wait.ts";
import { compileCacheIn, nodeFlags, operatorBundle } from "../../bundle/operator-bundle.ts";
import { type ClusterEntry, kubeconfigObject } from "../kubernetes/kubeconfig.ts";
import type { ClusterUser } from "../kubernetes/kubectl.ts";
import { keepRunning, runningProcess, stopProcess } from "../processes/process.ts";

/** Settings of the platform (config/settings.schema.ts), with the required ones of its starter. */
export type HostSettings = Pick<Settings, "namespace" | "serviceAccount" | "probes"> & {
  readonly gate: Partial<Settings["gate"]> & Pick<Settings["gate"], "probes">;
};

/** A platform on this machine, with its cluster. */
export interface HostPlatform {
  readonly folder: string;
  readonly cluster: ClusterEntry;
  /** A user that may request tokens of the chart's ServiceAccounts. */
  readonly administrator: ClusterUser;
  readonly settings: HostSettings;
  /**
   * kubectl's environment for the administrator: proxies, and variables of credential plugins. Default: ours, without
   * proxies.
   */
  readonly kubectlEnvironment?: Readonly<NodeJS.ProcessEnv>;
}

/** A program of the platform, under a ServiceAccount of its own. */
interface HostProgram {
  readonly name: "operator" | "gate";
  /** The command of the image's program; empty: the operator. */
  readonly command: readonly string[];
  /** The name of the process that renews its token, and of the token's file. */
  readonly token: string;
  /** The settings of its last start: a file of its own, so that none reads what another one is writing. */
  readonly settingsFile: string;
  serviceAccount(settings: HostSettings): string;
  probes(settings: HostSettings): Settings["probes"];
}

/** The operator with its REST API. */
export const operatorProgram: HostProgram = {
  name: "operator",
  command: [],
  token: "platform-token",
  settingsFile: "settings.yaml",
  serviceAccount: ({ serviceAccount }) => serviceAccount,
  probes: ({ probes }) => probes,
};

/** The gate, which answers for environments that sleep. */
export const gateProgram: HostProgram = {
  name: "gate",
  command: ["gate"],
  token: "gate-token",
  settingsFile: "gate-settings.yaml",
  serviceAccount: () => "gate",
  probes: ({ gate }) => gate.probes,
};

/** Ensures a kubeconfig of the program's ServiceAccount with a fresh token; the chart must be applied. */
export async function keepTokenFresh(platform: HostPlatform, program: HostProgram): Promise<void> {
  const { folder, administrator, settings } = platform;
  const { kubeconfig, tokenFile } = filesOf(platform, program);
  await writeFile(kubeconfig.path, kubeconfig.content, { mode: 0o600 });
  // The token of an earlier run may have expired.
  if (!(await runningProcess(folder, program.token))) await rm(tokenFile, { force: true });
  const script = join(import.meta.dirname, "renew-token.ts");
  const account = [settings.namespace, program.serviceAccount(settings)];
  const { kubectl, kubeconfig: administrators, context } = administrator;
  const args = [script, kubectl, administrators, ...account, tokenFile, ...(context === undefined ? [] : [context])];
  const spec = { name: program.token, command: process.execPath, args, env: platform.kubectlEnvironment ?? {} };
  await keepRunning(platform.folder, spec, () => existsSync(tokenFile));
}

/** Keeps the program running on this machine, with that kubeconfig's rights only. */
export async function keepProgramRunning(platform: HostPlatform, program: HostProgram): Promise<void> {
  const { kubeconfig, settings } = filesOf(platform, program);
  const main = await operatorBundle();
  await endOutdated(platform, program, sha256(`${main}\n${settings.content}`));
  await writeFile(settings.path, settings.content, { mode: 0o600 });
  const spec = {
    name: program.name,
    command: process.execPath,
    args: [...nodeFlags, main, ...program.command, "--settings", settings.path],
    env: { KUBECONFIG: kubeconfig.path, ...compileCacheIn(dirname(main)) },
  };
  const { host, port } = program.probes(platform.settings);
  await keepRunning(platform.folder, spec, () => answersWell(`http://${localHost(host)}:${port}/readyz`));
}

const GRACE_MS = 15_000;

/**
 * Ends a program with outdated code or settings: it would be served and tested instead of the current one. `content` names
 * the program, by its sources' hash, and the settings.
 */
async function endOutdated({ folder }: HostPlatform, { name }: HostProgram, content: string): Promise<void> {
  const fingerprint = { path: join(folder, `${name}-fingerprint`), content };
  const running = await runningProcess(folder, name);
  if (running && !(await isWritten(fingerprint))) await stopProcess(folder, running, GRACE_MS);
  await writeFile(fingerprint.path, fingerprint.content);
}

/** True when the folder's operator runs. */
export async function isOperatorRunning({ folder }: Pick<HostPlatform, "folder">): Promise<boolean> {
  return (await runningProcess(folder, operatorProgram.name)) !== undefined;
}

/** The difference between the running operator and the wanted platform, as a phrase, or undefined without one. */
export async function differenceOfRunning(platform: HostPlatform): Promise<string | undefined> {
  const { kubeconfig, settings } = filesOf(platform, operatorProgram);
  const operatorRuns = await isOperatorRunning(platform);
  const anythingRuns = operatorRuns || (await runningProcess(platform.folder, operatorProgram.token));
  if (anythingRuns && !(await isWritten(kubeconfig))) return "for another cluster";
  if (operatorRuns && !(await isWritten(settings))) return "with other settings";
  return undefined;
}

/** Removes the operator's token and kubeconfig. */
export async function removeCredentials(folder: string): Promise<void> {
  for (const name of [operatorProgram.token, kubeconfigFile(operatorProgram)]) {
    await rm(join(folder, name), { force: true });
  }
}

const kubeconfigFile = ({ name }: HostProgram) => `${name}.kubeconfig`;

interface TextFile {
  readonly path: string;
  readonly content: string;
}

function filesOf({ folder, cluster, settings }: HostPlatform, program: HostProgram) {
  const { namespace } = settings;
  const user = program.serviceAccount(settings);
  const tokenFile = join(folder, program.token);
  const file = (name: string, object: object): TextFile => ({
    path: join(folder, name),
    content: JSON.stringify(object, null, 2),
  });
  return {
    tokenFile,
    kubeconfig: file(kubeconfigFile(program), kubeconfigObject({ cluster, user, tokenFile, namespace })),
    settings: file(program.settingsFile, settings),
  };
}

async function isWritten({ path, content }: TextFile): Promise<boolean> {
  return existsSync(path) && (await readFile(path, "utf8")) === content;
}

/** The address by which this machine reaches its own listener at that address. */
export function localHost(host: string): string {
  return ["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host;
}
