import { type Kind, kindCli } from "../../../e2e/kind.ts";
import { findProgram, run } from "../../build/run.ts";
import { type ClusterUser, kubectl } from "../kubernetes/kubectl.ts";

const alternative = 'or use the local cluster, which needs no Docker: "make up"';

const needed: Readonly<Record<string, string>> = {
  docker: "https://docs.docker.com/engine/install",
  kind: "https://kind.sigs.k8s.io/docs/user/quick-start/#installation",
  kubectl: "https://kubernetes.io/docs/tasks/tools",
  helm: "https://helm.sh/docs/intro/install",
  go: "https://go.dev/doc/install, for the images of the sample application",
  git: "the system's package git",
  openssl: "the system's package openssl",
};

/** Programs for setting up a kind cluster. */
export interface KindTools {
  readonly kind: Kind;
  readonly docker: string;
  readonly kubectl: string;
  readonly helm: string;
}

/**
 * Finds the programs for a kind cluster on the PATH.
 *
 * Fails with every missing program and its installation guide, and when Docker does not answer; both mention the local
 * cluster.
 */
export async function findTools(): Promise<KindTools> {
  if (process.platform !== "linux")
    throw new Error(
      "CLUSTER=kind needs Linux: pods reach programs of this machine by Docker's bridge. Elsewhere, use a cluster that you have: CLUSTER=existing.",
    );
  const missing = Object.entries(needed).filter(([name]) => findProgram(name) === undefined);
  if (missing.length > 0) {
    const lines = missing.map(([name, source]) => `\n  - ${name}: ${source}`).join("");
    throw new Error(`CLUSTER=kind needs programs that are not on the PATH; install them, ${alternative}.${lines}`);
  }
  await assertDockerAnswers();
  const path = (name: string) => findProgram(name) ?? name;
  return {
    kind: kindCli({ program: path("kind") }),
    docker: path("docker"),
    kubectl: path("kubectl"),
    helm: path("helm"),
  };
}

async function assertDockerAnswers(): Promise<void> {
  await run("docker", ["version", "--format", "{{.Server.Version}}"], { deadlineMs: 20_000 }).catch((cause: Error) => {
    throw new Error(
      `Docker is installed and does not answer: start it (systemctl start docker), see that your user may call it, ${alternative}.\n${cause.message}`,
      { cause },
    );
  });
}

/** Images are pulled meanwhile. */
const MINUTES = 5;

/** Waits until all pods of a Deployment or the like are of its newest version and ready. Fails with kubectl's own words. */
export async function untilRolledOut(user: ClusterUser, what: string, namespace: string): Promise<void> {
  const args = ["rollout", "status", what, `--namespace=${namespace}`, `--timeout=${MINUTES}m`];
  await kubectl(user, args, { deadlineMs: (MINUTES + 1) * 60_000 });
}
