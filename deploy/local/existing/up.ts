import type { Settings } from "../../../config/settings.ts";
import { existingFolder } from "../folders.ts";
import { makeCommand } from "../make-command.ts";
import { assertPortsAreFree } from "../network/ports.ts";
import {
  differenceOfRunning,
  type HostPlatform,
  isOperatorRunning,
  keepOperatorRunning,
  keepTokenFresh,
  localHost,
} from "../platform/programs.ts";
import { withoutSupervisor } from "../processes/supervisor.ts";
import { showProgress } from "../progress.ts";
import { writeShellVariables } from "../shell-variables.ts";
import { assertUsable } from "./cluster.ts";
import { epilogue } from "./epilogue.ts";
import { readInputs } from "./inputs.ts";
import { applyPlatform } from "./platform.ts";
import { findPrograms } from "./programs.ts";

/**
 * Sets an existing cluster up with the platform chart and runs the operator for it on this machine; says what to do
 * next. Looks first whether all is there that it needs. Can be run again: what runs stays.
 */
export async function up(): Promise<void> {
  const progress = showProgress();
  const { kubeconfig, settings } = readInputs(process.env);
  const { kubectl, helm } = await findPrograms();
  const administrator = { kubectl, kubeconfig };
  const { cluster, kubeVersion } = await progress.step("check the cluster", () =>
    assertUsable(administrator, settings),
  );
  const platform = { folder: existingFolder, cluster, administrator, settings, kubectlEnvironment: process.env };
  await assertCanStart(platform, settings);
  await progress.step("platform chart", () => applyPlatform(platform, { helm, kubeVersion }));
  await withoutSupervisor(existingFolder, async () => {
    await progress.step("platform token", () => keepTokenFresh(platform));
    await progress.step("operator", () => keepOperatorRunning(platform));
  });
  const apiUrl = `http://${localHost(settings.api.host)}:${settings.api.port}`;
  const env = await writeShellVariables({ API_URL: apiUrl, KUBECONFIG: kubeconfig, KUBECTL: kubectl });
  console.log(epilogue({ ...platform, apiUrl, env }));
}

/** Fails when the programs that run were started for another cluster or with other settings. */
async function assertCanStart(platform: HostPlatform, { api, probes }: Settings): Promise<void> {
  const difference = await differenceOfRunning(platform);
  if (difference) throw new Error(`The platform runs here ${difference}; stop it with "${makeCommand("down")}" first.`);
  if (await isOperatorRunning(platform)) return;
  await assertPortsAreFree({ "api.port": api.port, "probes.port": probes.port });
}
