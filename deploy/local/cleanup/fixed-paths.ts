import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, readlink, rm } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { onCode } from "../../build/error-codes.ts";
import { clusterFolder, runFolder, shellVariablesFile } from "../folders.ts";
import { podNetwork } from "../network/addresses.ts";
import { machineOwner } from "./machine.ts";

/** Fixed in the kubelet (KubeletSocket in k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/constants.go). */
const kubeletSocket = "/var/lib/kubelet/device-plugins/kubelet.sock";
/** Fixed in the kubelet (legacyContainerLogsDir in pkg/kubelet/kuberuntime/legacy.go). */
const logLinks = "/var/log/containers";
/** Fixed in libcni (CacheDir in github.com/containernetworking/cni/libcni/api.go). */
const networkResults = "/var/lib/cni/results";

/** Fails when a kubelet runs on this machine: ours would take over its socket, with those of its device plugins. */
export async function assertNoOtherKubelet(): Promise<void> {
  if (!(await isAnswered(kubeletSocket))) return;
  throw new Error(
    `A kubelet works on this machine (it answers at ${kubeletSocket}); use its cluster with CLUSTER=existing instead.`,
  );
}

/**
 * Removes files that the local cluster's programs write outside its folders because their paths are fixed: log links,
 * results of the network plugins, the kubelet's socket. Removes `.local/env`, too, when it belongs to this cluster: it holds
 * ID tokens. Folders stay. The programs must have ended.
 */
export async function removeFilesElsewhere(): Promise<void> {
  const folders = [clusterFolder, (await machineOwner()) ?? clusterFolder];
  const links = await linksBelow(logLinks, [...folders, runFolder]);
  const names = await readdir(networkResults).catch(onCode(["ENOENT"], []));
  const results = names.filter(isResultOfPodNetwork).map((name) => join(networkResults, name));
  const sockets = (await ownsDeadSocket()) ? [kubeletSocket] : [];
  const variables = await ourShellVariables(folders);
  for (const file of [...links, ...results, ...sockets, ...variables]) await rm(file, { force: true });
}

/**
 * True for a file name (`<network>-<container>-<interface>`) in the network plugins' cache that belongs to one of our pods.
 */
export function isResultOfPodNetwork(name: string): boolean {
  return name.startsWith(`${podNetwork}-`);
}

/** Links in a folder whose targets, which need not exist, are below one of the given folders. */
export async function linksBelow(folder: string, targets: readonly string[]): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(onCode(["ENOENT"], []));
  const links = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name));
  const found = await Promise.all(links.map(async (link) => ({ link, target: await readlink(link) })));
  return found.filter(({ target }) => targets.some((below) => target.startsWith(`${below}/`))).map(({ link }) => link);
}

/** True when a program listens on the Unix socket; false for a stale socket or a missing file. */
export async function isAnswered(socket: string): Promise<boolean> {
  const connection = connect(socket);
  const connected = once(connection, "connect").finally(() => connection.destroy());
  return connected.then(() => true, onCode(["ENOENT", "ECONNREFUSED"], false));
}

/** No other kubelet ran when ours started; a later one would answer on the socket. */
async function ownsDeadSocket(): Promise<boolean> {
  return existsSync(runFolder) && !(await isAnswered(kubeletSocket));
}

/** The platform for an existing cluster writes the same file, with another kubeconfig. */
async function ourShellVariables(folders: readonly string[]): Promise<string[]> {
  const variables = await readFile(shellVariablesFile, "utf8").catch(onCode(["ENOENT"], ""));
  return folders.some((folder) => variables.includes(`'${folder}/`)) ? [shellVariablesFile] : [];
}
