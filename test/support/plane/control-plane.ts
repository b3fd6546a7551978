import type { ControlPlane } from "../../../deploy/local/control-plane.ts";

/** What a suite may know of the control plane that all suites of a run share; it must not stop or restart it. */
export type SharedControlPlane = Pick<ControlPlane, "kubeconfigPath" | "adminToken" | "url" | "caFile" | "kubectl">;

const variable = "TEST_CONTROL_PLANE";
const slot = Symbol.for("ephemeral-environments.test.control-plane");

/**
 * The real API server (with Argo CD's kinds, and the controllers that make namespaces and quotas real) that was
 * started for this run. Suites run side by side on it: make your own names and clean up by label. A suite that
 * restarts or kills programs starts its own with `startControlPlane`.
 *
 * Fails outside the Jest projects `control-plane` and `ports`, whose globalSetup starts it.
 */
export function controlPlane(): SharedControlPlane {
  const published = process.env[variable];
  if (!published) throw new Error("no control plane was started: run this suite in the project control-plane or ports");
  return JSON.parse(published);
}

/** Makes it known to the workers (by environment) and to the teardown (which runs in this process, reloaded). */
export function publishControlPlane(plane: ControlPlane): void {
  const { kubeconfigPath, adminToken, url, caFile, kubectl } = plane;
  process.env[variable] = JSON.stringify({ kubeconfigPath, adminToken, url, caFile, kubectl });
  (globalThis as Record<symbol, unknown>)[slot] = plane;
}

/** The control plane that this process published, for the teardown. */
export function publishedControlPlane(): ControlPlane | undefined {
  return (globalThis as Record<symbol, unknown>)[slot] as ControlPlane | undefined;
}
