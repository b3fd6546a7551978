import { showProgress } from "../../../deploy/build/progress.ts";
import { buildModule } from "../../../deploy/local/builds/build.ts";
import { goModules } from "../../../deploy/local/builds/modules.ts";
import { hasPlanePool, publishPool } from "./control-plane.ts";
import { startPlanePool } from "./plane-pool.ts";

/**
 * Jest's globalSetup: starts the run's pool of control planes, unless one exists. The first control plane starts here, the
 * others when they are leased.
 */
export default async function start(): Promise<void> {
  if (hasPlanePool()) return;
  const progress = showProgress();
  await buildModule(goModules.controlplane, progress);
  const pool = await startPlanePool();
  publishPool(pool);
  await progress.step("start the control plane", () => pool.prepare("1"));
}
