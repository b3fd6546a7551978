import { join } from "node:path";
import { stateFolder } from "../build/folders.ts";
import { showProgress } from "../build/progress.ts";
import { buildImage } from "../image/image.ts";
import { isRunning, startCluster } from "./cluster.ts";
import { containerd } from "./components/container-runtime.ts";
import { bareComponents } from "./components/index.ts";
import { userTokens } from "./identity/tokens.ts";
import { addresses, forwards } from "./network/addresses.ts";
import { writeShellVariables } from "./shell-variables.ts";
import type { ClusterSite } from "./site.ts";
import { makeCommand } from "./typed-words.ts";

/**
 * Starts the cluster without the platform and loads the platform's image, for an installation by helm as on any other
 * cluster. `.local/env` holds the settings for it.
 *
 * Fails where a local cluster runs already.
 */
export async function startBareCluster(): Promise<void> {
  if (await isRunning()) throw new Error(`A local cluster runs here; stop it with "${makeCommand("down")}" first.`);
  const progress = showProgress();
  const site = await startCluster(progress, { components: bareComponents });
  const image = await progress.step("build the image", () => buildImage(join(stateFolder, "image")));
  await progress.step("load the image", async () => {
    await containerd(site, "images", "import", image.archive);
    // Other nodes get this name by pulling.
    await containerd(site, "images", "tag", "--force", image.reference, `${image.repository}@${image.digest}`);
  });
  await writeShellVariables({ ...(await variablesOf(site)), IMAGE: image.repository, IMAGE_DIGEST: image.digest });
}

async function variablesOf({ adminKubeconfig, built, ca }: ClusterSite): Promise<Record<string, string>> {
  const { address } = addresses.bridge;
  const { git, ingress, identityProvider } = forwards;
  return {
    ...(await userTokens()),
    KUBECONFIG: adminKubeconfig,
    KUBECTL: join(built.controlplane.programs, "kubectl"),
    HELM: join(built.controlplane.programs, "helm"),
    CA_FILE: ca.certificate,
    GIT_URL: `http://${address}:${git.port}/platform`,
    INGRESS_ADDRESS: `${address}:${ingress.port}`,
    JWKS_URI: `https://${address}:${identityProvider.port}/jwks`,
    NODE_ADDRESS: address,
  };
}
