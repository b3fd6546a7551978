import { buildComponent, goComponents } from "../../../deploy/local/binaries.ts";
import { startControlPlane } from "../../../deploy/local/kubernetes/control-plane.ts";
import { showProgress } from "../../../deploy/local/progress.ts";
import { publishPool } from "./control-plane.ts";
import { startPlanePool } from "./plane-pool.ts";

/** Jest's globalSetup: the control planes of the run, whose programs are built before the first test waits for them. */
export default async function start(): Promise<void> {
  await buildComponent(goComponents.controlplane, showProgress());
  publishPool(await startPlanePool());
}
