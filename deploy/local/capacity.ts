import { existsSync } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { freemem } from "node:os";
import { dirname } from "node:path";
import { cacheRoot, stateFolder } from "../build/folders.ts";
import { unbuiltShare } from "./builds/build-all.ts";
import { alternative } from "./prerequisites.ts";

const GB = 1e9;
const GIB = 2 ** 30;

/** Built programs and Go's caches of modules and compiled packages, measured after a first start. */
const BUILD_BYTES = 9 * GB;
/** Images, containers, volumes and logs. */
const CLUSTER_BYTES = 3 * GB;
/** A cluster with a few environments; the linker of Kubernetes needs less. */
const MEMORY_BYTES = 4 * GIB;

interface Disk {
  readonly folder: string;
  readonly device: number;
  readonly freeBytes: number;
}

/** Free disk space and memory for a local cluster that does not run yet. */
export interface Capacity {
  /** The disks of the caches and of the cluster's state; they may be the same. */
  readonly disks: { readonly cache: Disk; readonly state: Disk };
  readonly availableMemoryBytes: number;
  /** The share of the programs that remains to be built, 0 to 1. */
  readonly unbuilt: number;
}

/** Fails when disk space or memory is too small for the local cluster and its build. */
export async function assertCapacity(): Promise<void> {
  const [cache, state] = await Promise.all([diskOf(cacheRoot()), diskOf(stateFolder)]);
  // A container may have less memory than its machine.
  const availableMemoryBytes = Math.min(freemem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const reason = whyTooSmall({ disks: { cache, state }, availableMemoryBytes, unbuilt: await unbuiltShare() });
  if (reason !== undefined) throw new Error(reason);
}

/** The reason why the machine is too small, in one sentence, or undefined. */
export function whyTooSmall({ disks, availableMemoryBytes, unbuilt }: Capacity): string | undefined {
  const { cache, state } = disks;
  const buildBytes = BUILD_BYTES * unbuilt;
  const needs =
    cache.device === state.device
      ? [{ ...cache, neededBytes: buildBytes + CLUSTER_BYTES }]
      : [
          { ...cache, neededBytes: buildBytes },
          { ...state, neededBytes: CLUSTER_BYTES },
        ];
  const full = needs.find(({ freeBytes, neededBytes }) => freeBytes < neededBytes);
  if (full !== undefined) {
    const free = (full.freeBytes / GB).toFixed(1);
    const needed = Math.ceil(full.neededBytes / GB);
    return `Only ${free} GB are free at ${full.folder}, and the local cluster needs about ${needed} GB there: free some, or put the folder on another disk (XDG_CACHE_HOME and GOMODCACHE name that of the caches, STATE_FOLDER that of the cluster).`;
  }
  if (availableMemoryBytes >= MEMORY_BYTES) return undefined;
  const available = (availableMemoryBytes / GIB).toFixed(1);
  return `Only ${available} GiB of memory are available, and the local cluster needs about ${MEMORY_BYTES / GIB} GiB: stop other programs, or ${alternative}.`;
}

async function diskOf(folder: string): Promise<Disk> {
  if (!existsSync(folder)) return { ...(await diskOf(dirname(folder))), folder };
  const { bavail, bsize } = await statfs(folder);
  return { folder, device: (await stat(folder)).dev, freeBytes: bavail * bsize };
}
