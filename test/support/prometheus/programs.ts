import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cacheRoot } from "../../../deploy/build/folders.ts";
import { withLock } from "../../../deploy/build/lock.ts";
import { findProgram, run } from "../../../deploy/build/run.ts";

const DOWNLOAD_DEADLINE_MS = 5 * 60_000;
const NAMES = ["prometheus", "promtool"] as const;

export type PrometheusPrograms = Readonly<Record<(typeof NAMES)[number], string>>;

/**
 * The programs in PATH, or in Debian's package, from the cache or downloaded. The package is only unpacked: installed, it
 * would listen on all addresses.
 */
export async function prometheusPrograms(): Promise<PrometheusPrograms> {
  const [prometheus, promtool] = NAMES.map(findProgram);
  if (prometheus !== undefined && promtool !== undefined) return { prometheus, promtool };
  const folder = join(cacheRoot(), "prometheus");
  const of = (name: string) => join(folder, "usr/bin", name);
  const needed = { name: "prometheus", what: "Prometheus for another process", deadlineMs: DOWNLOAD_DEADLINE_MS };
  if (!existsSync(folder)) await withLock(needed, () => (existsSync(folder) ? Promise.resolve() : unpack(folder)));
  return { prometheus: of("prometheus"), promtool: of("promtool") };
}

async function unpack(folder: string): Promise<void> {
  if (findProgram("apt-get") === undefined) {
    throw new Error(
      "Prometheus is missing, and there is no apt-get to get it with: put prometheus and promtool into PATH",
    );
  }
  const made = await mkdtemp(join(tmpdir(), "prometheus-"));
  try {
    await download(made).catch(async () => {
      await run("apt-get", ["update", "--quiet"], { deadlineMs: DOWNLOAD_DEADLINE_MS });
      await download(made);
    });
    const [archive = ""] = (await readdir(made)).filter((name) => name.endsWith(".deb"));
    await mkdir(cacheRoot(), { recursive: true });
    // Beside the target, so that it appears complete or not at all.
    const unpacked = await mkdtemp(join(cacheRoot(), "prometheus-new-"));
    await run("dpkg-deb", ["--extract", join(made, archive), unpacked]);
    await rename(unpacked, folder);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

const download = (cwd: string) =>
  run("apt-get", ["download", "--quiet", "prometheus"], { cwd, deadlineMs: DOWNLOAD_DEADLINE_MS });
