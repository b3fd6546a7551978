/**
 * The kind CLI as a typed module: clusters of Kubernetes in containers (https://kind.sigs.k8s.io), for machines with Docker.
 */
import { type Outcome, run } from "./support/command.ts";

/** Includes pulling, starting and joining nodes. */
const CREATE_MS = 600_000;
const LOAD_MS = 300_000;
const QUICK_MS = 60_000;

/** A failed call of kind. Its message says what to do, with kind's own words where they help. */
export class KindError extends Error {
  override readonly name: string = "KindError";
}

export class KindMissing extends KindError {
  override readonly name = "KindMissing";
}

/** No Docker, Podman or nerdctl answers kind. */
export class ContainerEngineMissing extends KindError {
  override readonly name = "ContainerEngineMissing";
}

export class ClusterExists extends KindError {
  override readonly name = "ClusterExists";
}

export class ClusterNotFound extends KindError {
  override readonly name = "ClusterNotFound";
}

/** The parameters of a new cluster. */
export interface RequestedCluster {
  /** Lower case letters, digits, `.` and `-`. */
  readonly name: string;
  /** The image of its nodes, best by digest, which decides the version of Kubernetes; default: kind's own. */
  readonly nodeImage?: string;
  readonly config?: object;
  /** Maximum wait for its control plane; default: 120. */
  readonly waitSeconds?: number;
  /** The file for its credentials; default: the caller's own `~/.kube/config`. */
  readonly kubeconfigFile?: string;
}

/** Calls of kind. Every method throws KindMissing, ContainerEngineMissing, or KindError for other failures. */
export interface Kind {
  /** Version, for example `0.33.0`. */
  version(): Promise<string>;
  clusters(): Promise<readonly string[]>;
  /** @throws ClusterExists */
  create(cluster: RequestedCluster): Promise<void>;
  /** Deletes a cluster; a missing one is fine. */
  delete(name: string): Promise<void>;
  /** Loads an archive's images (OCI, or of `docker save`) into every node. @throws ClusterNotFound */
  loadImageArchive(name: string, file: string): Promise<void>;
  /**
   * Credentials of the administrator.
   *
   * @param options `isInternal`: for clients in kind's own network, instead of those of this machine
   * @throws ClusterNotFound
   */
  kubeconfig(name: string, options?: { readonly isInternal?: boolean }): Promise<string>;
}

interface Options {
  /** Default: `kind` on the PATH. */
  readonly program?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `kind` for each call; without `--quiet`, which hides the reasons of failures. */
export function kindCli({ program = "kind", env = {} }: Options = {}): Kind {
  const call = async (args: readonly string[], deadlineMs: number, input?: string): Promise<string> => {
    const outcome = await run(program, { args, env, deadlineMs, ...(input !== undefined && { input }) }).catch(
      (error: NodeJS.ErrnoException) => {
        throw error.code === "ENOENT" ? missing(program) : error;
      },
    );
    if (outcome.code !== 0) throw errorOf(args, outcome);
    return outcome.stdout;
  };
  const ofCluster = (name: string) => ["--name", name];
  return {
    version: async () => (await call(["version", "--quiet"], QUICK_MS)).trim(),
    clusters: async () => (await call(["get", "clusters"], QUICK_MS)).split("\n").filter(Boolean),
    async create({ name, nodeImage, config, waitSeconds = 120, kubeconfigFile }) {
      const args = [
        "create",
        "cluster",
        ...ofCluster(name),
        "--wait",
        `${waitSeconds}s`,
        ...(nodeImage === undefined ? [] : ["--image", nodeImage]),
        ...(kubeconfigFile === undefined ? [] : ["--kubeconfig", kubeconfigFile]),
        ...(config === undefined ? [] : ["--config", "-"]),
      ];
      // JSON is YAML.
      await call(args, CREATE_MS + waitSeconds * 1000, config && JSON.stringify(config));
    },
    async delete(name) {
      await call(["delete", "cluster", ...ofCluster(name)], QUICK_MS);
    },
    async loadImageArchive(name, file) {
      await call(["load", "image-archive", file, ...ofCluster(name)], LOAD_MS);
    },
    kubeconfig: (name, { isInternal = false } = {}) =>
      call(["get", "kubeconfig", ...ofCluster(name), ...(isInternal ? ["--internal"] : [])], QUICK_MS),
  };
}

const missing = (program: string) =>
  new KindMissing(
    `There is no program "${program}": install kind (https://kind.sigs.k8s.io/docs/user/quick-start/#installation), or use the local cluster, which needs no Docker: make up`,
  );

/** kind has one exit code for all failures, so its words decide; tests check them against the real program. */
function errorOf(args: readonly string[], { code, stderr }: Outcome): KindError {
  const words = stderr.trim();
  if (
    /"(docker|podman|nerdctl)\b[^\n]*failed with error: (exec: |fork\/exec )|Cannot connect to the \w+ daemon/.test(
      words,
    )
  )
    return new ContainerEngineMissing(
      `kind needs Docker, Podman or nerdctl, and none answers here: start it, or use the local cluster, which needs no Docker: make up\n${words}`,
    );
  if (/already exist for a cluster with the name/.test(words)) return new ClusterExists(words);
  if (/no nodes found for cluster|could not locate any control plane nodes/.test(words))
    return new ClusterNotFound(words);
  const end = code === null ? "did not end in time" : `ended with ${code}`;
  return new KindError(`kind ${args.slice(0, 2).join(" ")} ${end}: ${words}`);
}
