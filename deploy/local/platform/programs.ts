import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Settings } from "../../../config/settings.ts";
import { sha256 } from "../../../crds/digest.ts";
import { answersWell } from "../../build/wait.ts";
import { compileCacheIn, nodeFlags, operatorBundle } from "../../bundle/operator-bundle.ts";
import { type ClusterEntry, kubeconfigObject } from "../kubernetes/kubeconfig.ts";
import type { ClusterUser } from "../kubernetes/kubectl.ts";
import { keepRunning, runningProcess, stopProcess } from "../processes/process.ts";

/** Settings of the operator (config/settings.schema.ts), with the required ones of its starter. */
export type HostSettings = Pick<Settings, "namespace" | "serviceAccount" | "probes">;

/** A platform on this machine, with its cluster. */
export interface HostPlatform {
  readonly folder: string;
  readonly cluster: ClusterEntry;
  /** A user that may request tokens of the platform's ServiceAccount. */
  readonly administrator: ClusterUser;
  readonly settings: HostSettings;
  /**
   * kubectl's environment for the administrator: proxies, and variables of credential plugins. Default: ours, without
   * proxies.
   */
  readonly kubectlEnvironment?: Readonly<NodeJS.ProcessEnv>;
}

const tokenProgram = "platform-token";
const operatorProgram = "operator";
const TOKEN_FILE = "platform-token";
const KUBECONFIG_FILE = "operator.kubeconfig";

/** Ensures a kubeconfig of the chart's ServiceAccount with a fresh token; the chart must be applied. */
export async function keepTokenFresh(platform: HostPlatform): Promise<void> {
  const { folder, administrator, settings } = platform;
  const { kubeconfig, tokenFile } = operatorFiles(platform);
  await writeFile(kubeconfig.path, kubeconfig.content, { mode: 0o600 });
  // The token of an earlier run may have expired.
  if (!(await runningProcess(folder, tokenProgram))) await rm(tokenFile, { force: true });
  const script = join(import.meta.dirname, "renew-token.ts");
  const account = [settings.namespace, settings.serviceAccount];
  const { kubectl, kubeconfig: administrators, context } = administrator;
  const args = [script, kubectl, administrators, ...account, tokenFile, ...(context === undefined ? [] : [context])];
  const spec = { name: tokenProgram, command: process.execPath, args, env: platform.kubectlEnvironment ?? {} };
  await keepRunning(platform.folder, spec, () => existsSync(tokenFile));
}

/** Keeps the operator with its REST API running on this machine, with that kubeconfig's rights only. */
export async function keepOperatorRunning(platform: HostPlatform): Promise<void> {
  const { kubeconfig, settings } = operatorFiles(platform);
  const main = await operatorBundle();
  await endOutdatedOperator(platform, sha256(`${main}\n${settings.content}`));
  await writeFile(settings.path, settings.content, { mode: 0o600 });
  const spec = {
    name: operatorProgram,
    command: process.execPath,
    args: [...nodeFlags, main, "--settings", settings.path],
    env: { KUBECONFIG: kubeconfig.path, ...compileCacheIn(platform.folder) },
  };
  const { host, port } = platform.settings.probes;
  await keepRunning(platform.folder, spec, () => answersWell(`http://${localHost(host)}:${port}/readyz`));
}

/** The program, named by its sources' hash, and the settings of the last start. */
const FINGERPRINT_FILE = "operator-fingerprint";
const OPERATOR_GRACE_MS = 15_000;

/** Ends an operator with outdated code or settings: it would be served and tested instead of the current one. */
async function endOutdatedOperator({ folder }: HostPlatform, content: string): Promise<void> {
  const fingerprint = { path: join(folder, FINGERPRINT_FILE), content };
  const running = await runningProcess(folder, operatorProgram);
  if (running && !(await isWritten(fingerprint))) await stopProcess(folder, running, OPERATOR_GRACE_MS);
  await writeFile(fingerprint.path, fingerprint.content);
}

/** True when the folder's operator runs. */
export async function isOperatorRunning({ folder }: Pick<HostPlatform, "folder">): Promise<boolean> {
  return (await runningProcess(folder, operatorProgram)) !== undefined;
}

/** The difference between the running programs and the wanted platform, as a phrase, or undefined without one. */
export async function differenceOfRunning(platform: HostPlatform): Promise<string | undefined> {
  const { kubeconfig, settings } = operatorFiles(platform);
  const operatorRuns = await isOperatorRunning(platform);
  const anythingRuns = operatorRuns || (await runningProcess(platform.folder, tokenProgram));
  if (anythingRuns && !(await isWritten(kubeconfig))) return "for another cluster";
  if (operatorRuns && !(await isWritten(settings))) return "with other settings";
  return undefined;
}

/** Removes the platform's token and kubeconfig. */
export async function removeCredentials(folder: string): Promise<void> {
  for (const name of [TOKEN_FILE, KUBECONFIG_FILE]) await rm(join(folder, name), { force: true });
}

interface TextFile {
  readonly path: string;
  readonly content: string;
}

function operatorFiles({ folder, cluster, settings }: HostPlatform) {
  const { namespace, serviceAccount: user } = settings;
  const tokenFile = join(folder, TOKEN_FILE);
  const file = (name: string, object: object): TextFile => ({
    path: join(folder, name),
    content: JSON.stringify(object, null, 2),
  });
  return {
    tokenFile,
    kubeconfig: file(KUBECONFIG_FILE, kubeconfigObject({ cluster, user, tokenFile, namespace })),
    settings: file("settings.yaml", settings),
  };
}

async function isWritten({ path, content }: TextFile): Promise<boolean> {
  return existsSync(path) && (await readFile(path, "utf8")) === content;
}

/** The address by which this machine reaches its own listener at that address. */
export function localHost(host: string): string {
  return ["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host;
}
