import { existsSync } from "node:fs";
import { showProgress } from "../../build/progress.ts";
import { existingFolder } from "../folders.ts";
import { removeCredentials } from "../platform/programs.ts";
import { stopAll } from "../processes/supervisor.ts";
import { makeCommand, shortPath } from "../typed-words.ts";
import { manifestFile } from "./platform.ts";

/** The operator finishes its reconciles, and may serve 20 s more until load balancers have noticed (settleSeconds). */
const GRACE_MS = 30_000;

/** Stops the programs of `up` on this machine, and prints how to remove the cluster's objects. Removes none of them. */
export async function down(): Promise<void> {
  await showProgress().step("stop the platform", stopPrograms);
  if (existsSync(manifestFile(existingFolder))) console.log(farewell(manifestFile(existingFolder)));
}

async function stopPrograms(): Promise<void> {
  await stopAll(existingFolder, GRACE_MS);
  await removeCredentials(existingFolder);
}

function farewell(manifests: string): string {
  return `
The platform's objects and the environments are still in the cluster; without the operator no environment expires.
To remove all of it (with the same KUBECONFIG and SETTINGS), let the operator delete the environments and the Repositories,
which have its finalizer, before its own objects:

  ${makeCommand("up")} && kubectl delete eenv --all && kubectl delete erepo --all --all-namespaces && ${makeCommand("down")}
  kubectl delete --ignore-not-found -f ${shortPath(manifests)}`;
}
