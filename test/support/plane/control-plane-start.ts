import { startControlPlane } from "../../../deploy/local/control-plane.ts";
import { showProgress } from "../../../deploy/local/progress.ts";
import { publishControlPlane } from "./control-plane.ts";

/** Jest's globalSetup: one control plane for every suite of the run, started once, shown while it is built. */
export default async function start(): Promise<void> {
  const progress = showProgress();
  publishControlPlane(await progress.step("start the control plane", () => startControlPlane({ progress })));
}
