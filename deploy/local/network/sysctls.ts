import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runFolder } from "../folders.ts";

const before = join(runFolder, "sysctls-before.json");
const forwarding = "net/ipv4/ip_forward";

/**
 * Settings of the whole machine that change while the local cluster runs: forwarding, which a Service needs, and
 * those that the kubelet sets as it starts (setupKernelTunables in pkg/kubelet/cm/container_manager_linux.go).
 */
const changed = [
  forwarding,
  ...["kernel/keys/root_maxbytes", "kernel/keys/root_maxkeys", "kernel/panic", "kernel/panic_on_oops"],
  ...["vm/overcommit_memory", "vm/panic_on_oom"],
];

/** Lets the kernel forward between the pods; remembers how the machine was before. */
export async function allowForwarding(): Promise<void> {
  if (!existsSync(before)) {
    const values = await Promise.all(changed.map(async (name) => [name, await readFile(file(name), "utf8")]));
    await writeFile(before, JSON.stringify(Object.fromEntries(values)));
  }
  await writeFile(file(forwarding), "1");
}

/** Whether `allowForwarding` was called since the machine was last set back: a network of ours was made. */
export function wasForwardingAllowed(): boolean {
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
