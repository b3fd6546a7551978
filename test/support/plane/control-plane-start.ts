import { buildModule } from "../../../deploy/local/builds/build.ts";
import { goModules } from "../../../deploy/local/builds/modules.ts";
import { showProgress } from "../../../deploy/local/progress.ts";
import { publishPool } from "./control-plane.ts";
import { startPlanePool } from "./plane-pool.ts";

/** Jest's globalSetup: the control planes of the run, whose programs are built before the first test waits for them. */
export default async function start(): Promise<void> {
  await buildModule(goModules.controlplane, showProgress());
  publishPool(await startPlanePool());
}
