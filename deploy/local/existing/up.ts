import type { Settings } from "../../../config/settings.ts";
import { installCommandLine } from "../command-line.ts";
import { existingFolder } from "../folders.ts";
import { makeCommand } from "../make-command.ts";
import { assertPortsAreFree } from "../network/ports.ts";
import { renderPlatformChart } from "../platform/chart.ts";
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
import { assertUsable, versionOf, whyTooOld } from "./cluster.ts";
import { confirmContext, currentContext, terminal } from "./context.ts";
import { epilogue } from "./epilogue.ts";
import { readInputs } from "./inputs.ts";
import { allObjects, applyPlatform } from "./platform.ts";
import { findPrograms } from "./programs.ts";

/**
 * Installs the platform chart on an existing cluster, runs the operator for it on this machine, and prints the next
 * commands. The cluster is confirmed (`yes`: it is) and its prerequisites are checked first. Repeatable: running programs
 * stay.
 */
export async function up(yes: boolean): Promise<void> {
  const progress = showProgress();
  const { kubeconfig, settings } = readInputs(process.env);
  const { kubectl, helm } = await findPrograms();
  const context = await currentContext({ kubectl, kubeconfig });
  await confirmContext(context, { yes, ask: terminal() });
  const administrator = { kubectl, kubeconfig, context: context.name };
  const manifests = await progress.step("check the cluster", async () => {
    const version = await versionOf(administrator, context);
    // Helm refuses to render the chart for an old cluster, and would hide the other problems.
    const rendered = await renderPlatformChart(settings, helm, whyTooOld(version) ? undefined : version.gitVersion);
    await assertUsable(administrator, { context, version, settings, manifests: allObjects(rendered) });
    return rendered;
  });
  const { cluster } = context;
  const platform = { folder: existingFolder, cluster, administrator, settings, kubectlEnvironment: process.env };
  await assertCanStart(platform, settings);
  await progress.step("platform chart", () => applyPlatform(platform, manifests));
  await withoutSupervisor(existingFolder, async () => {
    await progress.step("platform token", () => keepTokenFresh(platform));
    await progress.step("operator", () => keepOperatorRunning(platform));
  });
  await progress.step("command line", installCommandLine);
  const apiUrl = `http://${localHost(settings.api.host)}:${settings.api.port}`;
  const env = await writeShellVariables({
    API_URL: apiUrl,
    EENV_URL: apiUrl,
    KUBECONFIG: kubeconfig,
    KUBECTL: kubectl,
  });
  console.log(epilogue({ ...platform, apiUrl, env }));
}

/** Fails when the running programs were started for another cluster or with other settings. */
async function assertCanStart(platform: HostPlatform, { api, probes }: Settings): Promise<void> {
  const difference = await differenceOfRunning(platform);
  if (difference) throw new Error(`The platform runs here ${difference}; stop it with "${makeCommand("down")}" first.`);
  if (await isOperatorRunning(platform)) return;
  await assertPortsAreFree({ "api.port": api.port, "probes.port": probes.port });
}
