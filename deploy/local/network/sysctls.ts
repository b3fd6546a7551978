import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runFolder } from "../folders.ts";

const before = join(runFolder, "sysctls-before.json");

/**
 * Forwarding, which a Service needs, and no automatic IPv6 address for new interfaces: each pod has an interface on the
 * machine's side, which needs none, and while an address comes or goes Chromium fails all requests that wait for a
 * connection (ERR_NETWORK_CHANGED; AddressTrackerLinux in net/base). Existing interfaces keep their addresses; pods'
 * namespaces have their own settings.
 */
const ours = { "net/ipv4/ip_forward": "1", "net/ipv6/conf/default/addr_gen_mode": "1" };

/**
 * Machine-wide settings that change while the local cluster runs: ours and the kubelet's (setupKernelTunables in
 * pkg/kubelet/cm/container_manager_linux.go).
 */
const changed = [
  ...Object.keys(ours),
  "kernel/keys/root_maxbytes",
  "kernel/keys/root_maxkeys",
  "kernel/panic",
  "kernel/panic_on_oops",
  "vm/overcommit_memory",
  "vm/panic_on_oom",
];

/** Applies the settings of the pods' network and saves the previous ones. A kernel without IPv6 lacks its settings. */
export async function setSysctls(): Promise<void> {
  const known: Record<string, string> = existsSync(before) ? JSON.parse(await readFile(before, "utf8")) : {};
  const missing = changed.filter((name) => known[name] === undefined && existsSync(file(name)));
  for (const name of missing) known[name] = await readFile(file(name), "utf8");
  await writeFile(before, JSON.stringify(known));
  for (const [name, value] of Object.entries(ours)) if (existsSync(file(name))) await writeFile(file(name), value);
}

/** True when `setSysctls` ran since the last restore: a network of ours was made. */
export function wereSysctlsSet(): boolean {
  return existsSync(before);
}

/** Restores the saved settings; does nothing without any. */
export async function restoreSysctls(): Promise<void> {
  if (!existsSync(before)) return;
  const values: Record<string, string> = JSON.parse(await readFile(before, "utf8"));
  for (const [name, value] of Object.entries(values)) await writeFile(file(name), value);
}

function file(name: string): string {
  return join("/proc/sys", name);
}
