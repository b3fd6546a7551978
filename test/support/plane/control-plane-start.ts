import { showProgress } from "../../../deploy/build/progress.ts";
import { buildModule } from "../../../deploy/local/builds/build.ts";
import { goModules } from "../../../deploy/local/builds/modules.ts";
import { hasPlanePool, publishPool } from "./control-plane.ts";
import { startPlanePool } from "./plane-pool.ts";

/**
 * Jest's globalSetup: the control planes of the run, unless it was started with some. The first one starts here, where no
 * test waits; the others when they are leased.
 */
export default async function start(): Promise<void> {
  if (hasPlanePool()) return;
  const progress = showProgress();
  await buildModule(goModules.controlplane, progress);
  const pool = await startPlanePool();
  publishPool(pool);
  await progress.step("start the control plane", () => pool.prepare("1"));
}
