import { rm } from "node:fs/promises";
import { kindCli } from "../../../e2e/kind.ts";
import { showProgress } from "../../build/progress.ts";
import { installCommandLine } from "../command-line.ts";
import { kindFolder } from "../folders.ts";
import { ensureHello } from "../hello.ts";
import { userTokens } from "../identity/tokens.ts";
import type { ApiClient } from "../kubernetes/api-client.ts";
import { type ClusterUser, kubectl } from "../kubernetes/kubectl.ts";
import { addresses } from "../network/addresses.ts";
import { assertPortsAreFree } from "../network/ports.ts";
import { apiUrl } from "../platform/settings.ts";
import { stopAll } from "../processes/supervisor.ts";
import { writeShellVariables } from "../shell-variables.ts";
import { makeCommand, shortPath } from "../typed-words.ts";
import { fetchText } from "./argo-cd.ts";
import { CLUSTER_NAME } from "./cluster.ts";
import { keepHostPrograms } from "./host-programs.ts";
import { prepareImages, releasedImage } from "./images.ts";
import { findTools, type KindTools } from "./tools.ts";
import { startKindPlatform } from "./up.ts";

const GRACE_MS = 10_000;

/** Starts the platform on a kind cluster, creates the first environment, and prints the next commands. Repeatable. */
export async function up(): Promise<void> {
  const began = performance.now();
  const reference = process.env.IMAGE || undefined;
  // A wrong reference fails before minutes of work.
  if (reference) releasedImage(reference);
  const tools = await findTools();
  await assertRoom(tools);
  const progress = showProgress();
  const sources = {
    read: fetchText,
    hostPrograms: keepHostPrograms,
    images: (folder: string, repositories: Parameters<typeof prepareImages>[1]) =>
      prepareImages(folder, repositories, { reference, progress }),
  };
  const { administrator, ca } = await startKindPlatform(tools, sources, { folder: kindFolder, progress });
  await progress.step("command line", installCommandLine);
  const tokens = await userTokens();
  const shell = {
    API_URL: apiUrl,
    EENV_URL: apiUrl,
    KUBECONFIG: administrator.kubeconfig,
    KUBECTL: administrator.kubectl,
    CA_FILE: ca.certificate,
    ...tokens,
  };
  const file = await writeShellVariables(shell);
  const hello = await ensureHello(readBy(administrator), tokens.ID_TOKEN);
  console.log(`
Environment hello is ${hello.status}.

  frontend  ${hello.urls.frontend}
  backend   ${hello.urls.backend}

Everything took ${((performance.now() - began) / 1000).toFixed(1)} s and keeps running in the kind cluster ${CLUSTER_NAME}; "${makeCommand("down")}" deletes it. Next:

  source ${shortPath(file)}
  curl -H "Authorization: Bearer $ID_TOKEN" $API_URL/api/environments/hello   # "make token" prints a fresh token
  eenv login --with-token <<< $ID_TOKEN && eenv get hello   # or "eenv login", with a browser; "eenv --help"
  curl --cacert "$CA_FILE" ${hello.urls.frontend}
  $KUBECTL get eenv hello -o wide`);
}

/** Fails when another program, such as the local cluster, uses a port of a cluster that does not exist yet. */
async function assertRoom({ kind }: KindTools): Promise<void> {
  if ((await kind.clusters()).includes(CLUSTER_NAME)) return;
  const { apiPort, ingressPort, gitServerPort, identityProviderPort } = addresses;
  await assertPortsAreFree({ apiPort, ingressPort, gitServerPort, identityProviderPort });
}

function readBy(user: ClusterUser): Pick<ApiClient, "find"> {
  return { find: async (path) => JSON.parse(await kubectl(user, ["get", "--raw", path])) as Record<string, unknown> };
}

/** Deletes the cluster and stops its programs on this machine. */
export async function down(): Promise<void> {
  const progress = showProgress();
  await progress.step("delete the kind cluster", () => kindCli().delete(CLUSTER_NAME));
  await progress.step("stop its programs on this machine", () => stopAll(kindFolder, GRACE_MS));
  await rm(kindFolder, { recursive: true, force: true });
}
