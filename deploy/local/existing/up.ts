import { join } from "node:path";
import type { Settings } from "../../../config/settings.ts";
import { showProgress } from "../../build/progress.ts";
import { findProgram } from "../../build/run.ts";
import { builtModule } from "../builds/build.ts";
import { goModules } from "../builds/modules.ts";
import { installCommandLine } from "../command-line.ts";
import { existingFolder } from "../folders.ts";
import { assertPortsAreFree } from "../network/ports.ts";
import { renderPlatformChart } from "../platform/chart.ts";
import {
  differenceOfRunning,
  type HostPlatform,
  isOperatorRunning,
  keepProgramRunning,
  keepTokenFresh,
  localHost,
  operatorProgram,
} from "../platform/programs.ts";
import { withoutSupervisor } from "../processes/supervisor.ts";
import { writeShellVariables } from "../shell-variables.ts";
import { makeCommand, shortPath } from "../typed-words.ts";
import { assertUsable, versionOf, whyTooOld } from "./cluster.ts";
import { confirmContext, currentContext, terminal } from "./context.ts";
import { readInputs } from "./inputs.ts";
import { allObjects, applyPlatform } from "./platform.ts";

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
    const kubeVersion = whyTooOld(version) ? undefined : version.gitVersion;
    const rendered = await renderPlatformChart(settings, helm, { kubeVersion });
    await assertUsable(administrator, { context, version, settings, manifests: allObjects(rendered) });
    return rendered;
  });
  const { cluster } = context;
  const platform = { folder: existingFolder, cluster, administrator, settings, kubectlEnvironment: process.env };
  await assertCanStart(platform, settings);
  await progress.step("platform chart", () => applyPlatform(platform, manifests));
  await withoutSupervisor(existingFolder, async () => {
    await progress.step("platform token", () => keepTokenFresh(platform, operatorProgram));
    await progress.step("operator", () => keepProgramRunning(platform, operatorProgram));
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

/** The paths of kubectl and helm: finds them on the PATH, else among those that were built for a local cluster. Fails, naming the missing ones. */
async function findPrograms(): Promise<{ kubectl: string; helm: string }> {
  const [kubectl, helm] = await Promise.all([find("kubectl"), find("helm")]);
  if (kubectl && helm) return { kubectl, helm };
  const missing = Object.entries({ kubectl, helm }).flatMap(([name, path]) => (path ? [] : [name]));
  throw new Error(`CLUSTER=existing needs kubectl and helm; install what is not on the PATH: ${missing.join(", ")}.`);
}

async function find(name: string): Promise<string | undefined> {
  const onPath = findProgram(name);
  if (onPath) return onPath;
  const built = await builtModule(goModules.controlplane);
  return built && join(built.programs, name);
}

/** The facts of a platform that runs for an existing cluster. */
interface Running extends HostPlatform {
  readonly settings: Settings;
  readonly apiUrl: string;
  /** The file with the shell variables. */
  readonly env: string;
}

/** Describes what runs and the next commands. */
function epilogue({ folder, cluster, settings, apiUrl, env }: Running): string {
  const { namespace, serviceAccount, api } = settings;
  const [signIn] = api.issuers;
  const idToken = signIn ? `ID_TOKEN is one of ${signIn.issuer}` : "needs an issuer in the settings";
  return `
The platform runs on this machine for ${cluster.server}, as system:serviceaccount:${namespace}:${serviceAccount}.

  REST interface  ${apiUrl}, described at ${apiUrl}/docs
  operator        ${shortPath(join(folder, "log/operator.log"))}
  its token       ${shortPath(join(folder, "log/platform-token.log"))}

They keep running; "${makeCommand("down")}" stops them. Put your own repositories into the examples. Next:

  source ${shortPath(env)}
  $KUBECTL apply -f deploy/examples/repository-backend.yaml -f deploy/examples/repository-frontend.yaml
  curl -H "Authorization: Bearer $ID_TOKEN" $API_URL/api/environments \\
    -d environment_name=hello -d backend_repo=shop-api -d backend_branch=main   # ${idToken}
  eenv login --with-token <<< $ID_TOKEN && eenv list   # "eenv --help"
  $KUBECTL get eenv --watch          # the same without REST: $KUBECTL apply -f deploy/examples/environment.yaml`;
}
