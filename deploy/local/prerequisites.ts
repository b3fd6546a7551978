import { existsSync } from "node:fs";
import type { Progress } from "../build/progress.ts";
import { findProgram, run } from "../build/run.ts";

/** The alternative to a local cluster, as the end of a sentence. */
export const alternative =
  "use a cluster that you have instead: CLUSTER=existing KUBECONFIG=<path> SETTINGS=<file> make up, or with Docker CLUSTER=kind make up";

const needed: Readonly<Record<string, string>> = {
  // For Gitea's SQLite, with the header below.
  cc: "gcc",
  conntrack: "conntrack",
  git: "git",
  ip: "iproute2",
  iptables: "iptables",
  // For the backup of docs/install.md, which a test follows.
  jq: "jq",
  mount: "mount",
  nft: "nftables",
  openssl: "openssl",
  // Clients for the image of databases: they load seeds and make dumps.
  pg_restore: "postgresql-client",
  psql: "postgresql-client",
  runc: "runc",
  setpriv: "util-linux",
  tar: "tar",
};

/** Debian only recommends the compiler's headers with the compiler. */
const neededFiles: Readonly<Record<string, string>> = { "/usr/include/stdio.h": "libc6-dev" };

/**
 * Ensures that the local cluster can run here. Missing Debian packages are installed, after a message.
 *
 * Fails with one sentence that names the alternative.
 */
export async function assertCanRun(progress: Progress): Promise<void> {
  const obstacle = whyNot();
  if (obstacle) throw new Error(obstacle);
  const packages = missingPackages();
  if (packages.length === 0) return;
  if (!findProgram("apt-get"))
    throw new Error(`These programs are missing: ${packages.join(", ")}. Install them, or ${alternative}.`);
  await progress.step(`install the Debian packages ${packages.join(", ")}`, () => install(packages));
}

/** The reason why the local cluster cannot run on this machine, in one sentence, or undefined. */
export function whyNot(): string | undefined {
  if (process.platform !== "linux") return `The local cluster needs Linux; ${alternative}.`;
  if (process.getuid?.() !== 0)
    return `The local cluster needs root, for its network and its containers; ${alternative}.`;
  if (!findProgram("go"))
    return `The local cluster is built with Go (1.26 or newer), which is not installed; install it, or ${alternative}.`;
  return undefined;
}

function missingPackages(): string[] {
  const programs = Object.entries(needed).flatMap(([program, name]) => (findProgram(program) ? [] : [name]));
  const files = Object.entries(neededFiles).flatMap(([file, name]) => (existsSync(file) ? [] : [name]));
  return [...programs, ...files];
}

async function install(packages: readonly string[]): Promise<void> {
  const options = { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }, deadlineMs: 10 * 60_000 };
  await run("apt-get", ["update", "--quiet"], options);
  await run("apt-get", ["install", "--yes", "--quiet", "--no-install-recommends", ...packages], options);
}
