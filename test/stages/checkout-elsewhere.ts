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
 * The second place of the checkout: below a folder that root alone may enter, with spaces in its path, and so long that no Unix
 * socket can lie below it. It is always the same, so that what a killed run left is found, and not below a folder for temporary
 * files, which people empty.
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
 * Does the work while the checkout can be reached at a place where other users can't enter and programs trip over the path:
 * people's checkouts lie at such places. It is the same checkout with the same files, mounted a second time.
 *
 * Needs Linux and root. Waits for another run that has it there; what a killed run left is removed first.
 */
export function withCheckoutElsewhere<T>(work: (checkout: string) => Promise<T>): Promise<T> {
  // The lock goes with the process that holds it: what is found mounted under it is left over.
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
    // No mount below it shows in the checkout itself.
    await run("mount", ["--bind", "--make-private", checkout, elsewhere]);
    try {
      return await work(elsewhere);
    } finally {
      await remove();
    }
  });
}

/** Stops the local cluster that a killed run has started there, if it still runs; others are left alone. */
async function endLeftCluster(): Promise<void> {
  const isOfThere = (await machineOwner())?.startsWith(`${elsewhere}/`) ?? false;
  if (!isOfThere || !existsSync(join(elsewhere, launcher))) return;
  const { CLUSTER: _, ...env } = process.env;
  await run(process.execPath, [launcher, "down"], { cwd: elsewhere, env, deadlineMs: DOWN_DEADLINE_MS });
}

/** Removes the mount and its folders. Nothing is ever removed recursively here: what is mounted is the checkout. */
async function remove(): Promise<void> {
  // Lazily: a program that still works there keeps its files.
  while (await isMounted(elsewhere)) await run("umount", ["--lazy", elsewhere]);
  for (const folder of [elsewhere, dirname(elsewhere)]) await rmdir(folder).catch(onCode(["ENOENT"], undefined));
}
