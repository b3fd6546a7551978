import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runFolder } from "../folders.ts";

const before = join(runFolder, "sysctls-before.json");

/**
 * Forwarding, which a Service needs, and no address of IPv6 by itself for new interfaces: each pod has one on the machine's side, which
 * needs none, and while an address comes or goes Chromium fails the requests that wait for a connection, whatever their site
 * (ERR_NETWORK_CHANGED; AddressTrackerLinux in net/base). What is there keeps its addresses; pods' namespaces have settings of their own.
 */
const ours = { "net/ipv4/ip_forward": "1", "net/ipv6/conf/default/addr_gen_mode": "1" };

/**
 * Settings of the whole machine that change while the local cluster runs: ours, and those that the kubelet sets as it
 * starts (setupKernelTunables in pkg/kubelet/cm/container_manager_linux.go).
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

/** Sets what the pods' network needs; remembers how the machine was before. A kernel without IPv6 lacks its settings. */
export async function setSysctls(): Promise<void> {
  const known: Record<string, string> = existsSync(before) ? JSON.parse(await readFile(before, "utf8")) : {};
  const missing = changed.filter((name) => known[name] === undefined && existsSync(file(name)));
  for (const name of missing) known[name] = await readFile(file(name), "utf8");
  await writeFile(before, JSON.stringify(known));
  for (const [name, value] of Object.entries(ours)) if (existsSync(file(name))) await writeFile(file(name), value);
}

/** Tells whether `setSysctls` was called since the machine was last set back: a network of ours was made. */
export function wereSysctlsSet(): boolean {
  return existsSync(before);
}

/** Sets the machine back to how it was before; does nothing when nothing was remembered. */
export async function restoreSysctls(): Promise<void> {
  if (!existsSync(before)) return;
  const values: Record<string, string> = JSON.parse(await readFile(before, "utf8"));
  for (const [name, value] of Object.entries(values)) await writeFile(file(name), value);
}

function file(name: string): string {
  return join("/proc/sys", name);
}
