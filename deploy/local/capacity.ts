import { existsSync } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { freemem } from "node:os";
import { dirname } from "node:path";
import { cacheRoot, stateFolder } from "../build/folders.ts";
import { unbuiltShare } from "./builds/build-all.ts";
import { alternative } from "./prerequisites.ts";

const GB = 1e9;
const GIB = 2 ** 30;

/** Built programs and Go's caches of modules and of compiled packages, measured after a first start. */
const BUILD_BYTES = 9 * GB;
/** Images, containers, volumes and logs of the running cluster. */
const CLUSTER_BYTES = 3 * GB;
/** The running cluster with a few environments; the linker of Kubernetes needs less. */
const MEMORY_BYTES = 4 * GIB;

/** A place for files, and what is free on its device. */
interface Disk {
  readonly folder: string;
  readonly device: number;
  readonly freeBytes: number;
}

/** What a machine has left for a local cluster that does not run yet. */
export interface Capacity {
  /** The disks of the caches and of the cluster's state, which may be one. */
  readonly disks: { readonly cache: Disk; readonly state: Disk };
  readonly availableMemoryBytes: number;
  /** The share of the programs that is still to be built, 0 to 1. */
  readonly unbuilt: number;
}

/** Fails when the machine has not enough disk space or memory left for the local cluster and for building it. */
export async function assertCapacity(): Promise<void> {
  const [cache, state] = await Promise.all([diskOf(cacheRoot()), diskOf(stateFolder)]);
  // A container may have less than its machine.
  const availableMemoryBytes = Math.min(freemem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const reason = whyTooSmall({ disks: { cache, state }, availableMemoryBytes, unbuilt: await unbuiltShare() });
  if (reason !== undefined) throw new Error(reason);
}

/** Why the machine is too small, in one sentence, or undefined when it is not. */
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

/** The disk that the folder is on, or will be. */
async function diskOf(folder: string): Promise<Disk> {
  if (!existsSync(folder)) return { ...(await diskOf(dirname(folder))), folder };
  const { bavail, bsize } = await statfs(folder);
  return { folder, device: (await stat(folder)).dev, freeBytes: bavail * bsize };
}
