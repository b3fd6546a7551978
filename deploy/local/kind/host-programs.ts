import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { answersWell } from "../../build/wait.ts";
import { keepForwards } from "../components/forwards.ts";
import { keepIdentityProvider } from "../components/identity.ts";
import { type LocalRepositories, makeRepositories } from "../git/repositories.ts";
import type { CertificateAuthority } from "../kubernetes/pki.ts";
import { addresses } from "../network/addresses.ts";
import { keepRunning } from "../processes/process.ts";
import { withoutSupervisor } from "../processes/supervisor.ts";
import type { Bridge } from "./cluster.ts";

/**
 * Starts the cluster's programs on this machine, as for the local cluster: the git repositories, the identity provider, and
 * forwards to both on Docker's bridge alone. Answers the repositories.
 */
export async function keepHostPrograms(
  folder: string,
  ca: CertificateAuthority,
  { address }: Bridge,
): Promise<LocalRepositories> {
  const root = join(folder, "repositories");
  await mkdir(root, { recursive: true });
  const repositories = await makeRepositories(root);
  await withoutSupervisor(folder, async () => {
    await keepGitServer(folder, root, repositories);
    await keepIdentityProvider(folder);
    await keepForwards(folder, ca, address);
  });
  return repositories;
}

function keepGitServer(folder: string, root: string, { chart }: LocalRepositories): Promise<void> {
  const script = join(import.meta.dirname, "../git/serve.ts");
  const args = [script, String(addresses.gitServerPort), root];
  const url = `${chart.url}/info/refs?service=git-upload-pack`;
  return keepRunning(folder, { name: "git-server", command: process.execPath, args }, () => answersWell(url));
}
