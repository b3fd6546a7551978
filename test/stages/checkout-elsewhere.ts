import { existsSync } from "node:fs";
import { chmod, mkdir, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { onCode } from "../../deploy/build/error-codes.ts";
import { withLock } from "../../deploy/build/lock.ts";
import { run } from "../../deploy/build/run.ts";
import { machineOwner } from "../../deploy/local/cleanup/machine.ts";
import { isMounted } from "../../deploy/local/processes/mounts.ts";
import { checkout } from "./command.ts";

/**
 * The second place of the checkout: below a folder for root alone, with spaces in its path, and too long for a Unix socket
 * below it. It is constant, so that leftovers of a killed run are found, and outside temporary folders.
 */
const elsewhere = join(
  "/run",
  "ephemeral-environments for root alone",
  "a checkout whose path is longer than that of any Unix socket may be",
);
const launcher = "deploy/local/main.ts";
const DOWN_DEADLINE_MS = 3 * 60_000;
const STAGE_DEADLINE_MS = 2 * 60 * 60_000;

/**
 * Does the work while the checkout is mounted at a place that other users can't enter and whose path breaks careless
 * programs, as people's checkouts may be. The files are the same.
 *
 * Needs Linux and root. Waits for another run at that place; leftovers of a killed run are removed first.
 */
export function withCheckoutElsewhere<T>(work: (checkout: string) => Promise<T>): Promise<T> {
  // The lock ends with its process: a mount found under it is a leftover.
  const lock = {
    name: "ephemeral-environments-checkout-elsewhere",
    what: "the end of another run with its checkout at the second place",
    deadlineMs: STAGE_DEADLINE_MS,
  };
  return withLock(lock, async () => {
    await endLeftCluster();
    await remove();
    await mkdir(elsewhere, { recursive: true });
    await chmod(dirname(elsewhere), 0o700);
    // Mounts below it do not show in the checkout itself.
    await run("mount", ["--bind", "--make-private", checkout, elsewhere]);
    try {
      return await work(elsewhere);
    } finally {
      await remove();
    }
  });
}

/** Stops a killed run's local cluster at that place; other clusters stay. */
async function endLeftCluster(): Promise<void> {
  const isOfThere = (await machineOwner())?.startsWith(`${elsewhere}/`) ?? false;
  if (!isOfThere || !existsSync(join(elsewhere, launcher))) return;
  const { CLUSTER: _, ...env } = process.env;
  await run(process.execPath, [launcher, "down"], { cwd: elsewhere, env, deadlineMs: DOWN_DEADLINE_MS });
}

/** Removes the mount and its folders, never recursively: the mounted files are the checkout. */
async function remove(): Promise<void> {
  // Lazily: a program that still works there keeps its files.
  while (await isMounted(elsewhere)) await run("umount", ["--lazy", elsewhere]);
  for (const folder of [elsewhere, dirname(elsewhere)]) await rmdir(folder).catch(onCode(["ENOENT"], undefined));
}
