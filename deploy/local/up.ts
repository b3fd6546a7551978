import { join } from "node:path";
import { showProgress } from "../build/progress.ts";
import { startCluster } from "./cluster.ts";
import { installCommandLine } from "./command-line.ts";
import { identityFolder } from "./folders.ts";
import { ensureHello, HELLO_SLEEP, type Hello } from "./hello.ts";
import { userTokens } from "./identity/tokens.ts";
import { apiClient } from "./kubernetes/api-client.ts";
import { consoleOrigin } from "./network/addresses.ts";
import { apiUrl } from "./platform/settings.ts";
import { writeShellVariables } from "./shell-variables.ts";
import type { ClusterSite } from "./site.ts";
import { shortPath } from "./typed-words.ts";

/** Starts everything that is missing, creates the first environment, and prints the next commands. Repeatable. */
export async function up(): Promise<void> {
  const began = performance.now();
  const progress = showProgress();
  const build = () => progress.step("command line and web console", installCommandLine);
  const site = await startCluster(progress, { build });
  const idToken = await writeEnvironmentFile(site);
  const client = apiClient(site.access);
  const hello = await ensureHello(client, idToken, HELLO_SLEEP).finally(() => client.close());
  console.log(epilogue(hello, site, (performance.now() - began) / 1000));
}

async function writeEnvironmentFile({ adminKubeconfig, built, ca }: ClusterSite): Promise<string> {
  const tokens = await userTokens();
  await writeShellVariables({
    API_URL: apiUrl,
    EENV_URL: apiUrl,
    CONSOLE_URL: `${consoleOrigin}/console/`,
    KUBECONFIG: adminKubeconfig,
    KUBECTL: join(built.controlplane.programs, "kubectl"),
    CA_FILE: ca.certificate,
    ...tokens,
  });
  return tokens.ID_TOKEN;
}

function epilogue(hello: Hello, { ca }: ClusterSite, seconds: number): string {
  const made = hello.readyAfterSeconds;
  return `
Environment hello is ${hello.status}${made === undefined ? "" : ` (${made.toFixed(1)} s after it was asked for)`}.

  frontend  ${hello.urls.frontend}
  backend   ${hello.urls.backend}

It falls asleep after ${HELLO_SLEEP.after_idle_minutes} minutes without a request; whoever opens its address wakes it.

Everything took ${seconds.toFixed(1)} s and keeps running; "make down" stops it. Next:

  ${consoleOrigin}/console/   # the web console; accounts: ${shortPath(join(identityFolder, "passwords.json"))}
  source .local/env
  curl -H "Authorization: Bearer $ID_TOKEN" $API_URL/api/environments/hello   # "make token" prints a fresh token
  eenv login --with-token <<< $ID_TOKEN && eenv get hello   # or "eenv login", with a browser; "eenv --help"
  $KUBECTL get eenv hello -o wide
  tail -f ${join(".local/cluster", "log/operator.log")}                       # programs: "make status"

The URLs' certificate is signed by ${shortPath(ca.certificate)}: curl --cacert "$CA_FILE" ${hello.urls.frontend}
The REST interface is described at ${apiUrl}/docs.
NetworkPolicies are real objects here, but this cluster's network plugin does not enforce them.`;
}
