import { installPlatformChart, type PlatformIdentity } from "./chart/platform-chart.ts";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "./own-control-plane.ts";

/** A control plane with Argo CD's kinds and the platform chart. */
export interface TestPlane extends ControlPlane {
  readonly platform: PlatformIdentity;
}

/** Starts a control plane with the platform chart; the caller stops it. */
export async function startTestPlane(options: ControlPlaneOptions = {}): Promise<TestPlane> {
  const plane = await startControlPlane(options);
  try {
    return { ...plane, platform: await installPlatformChart(plane) };
  } catch (error) {
    await plane.stop();
    throw error;
  }
}
