import { publishedControlPlane } from "./control-plane.ts";

/** Jest's globalTeardown: ends the control plane of the run. */
export default async function stop(): Promise<void> {
  await publishedControlPlane()?.stop();
}
