/** The kind CLI as a typed module: clusters of Kubernetes in containers (https://kind.sigs.k8s.io), for machines with Docker. */
import { type Outcome, run } from "./support/command.ts";

/** Nodes are pulled, started and joined. */
const CREATE_MS = 600_000;
const LOAD_MS = 300_000;
const QUICK_MS = 60_000;

/** A call of kind that failed. Its message says what to do, and has kind's own words where they help. */
export class KindError extends Error {
  override readonly name: string = "KindError";
}

/** There is no program `kind`. */
export class KindMissing extends KindError {
  override readonly name = "KindMissing";
}

/** kind needs Docker, Podman or nerdctl, and finds none that answers. */
export class ContainerEngineMissing extends KindError {
  override readonly name = "ContainerEngineMissing";
}

/** A cluster of that name exists. */
export class ClusterExists extends KindError {
  override readonly name = "ClusterExists";
}

/** No cluster has that name. */
export class ClusterNotFound extends KindError {
  override readonly name = "ClusterNotFound";
}

/** A cluster to be made. */
export interface ClusterWanted {
  /** Lower case letters, digits, `.` and `-`. */
  readonly name: string;
  /** The image of its nodes, best by digest, which decides the version of Kubernetes; kind's own default unless said. */
  readonly nodeImage?: string;
  /** A `kind: Cluster` of `kind.x-k8s.io/v1alpha4`; one node unless said. */
  readonly config?: object;
  /** How long to wait until its control plane is ready; 120 unless said. */
  readonly waitSeconds?: number;
  /** The file that gets its credentials; without it, that is the caller's own `~/.kube/config`. */
  readonly kubeconfigFile?: string;
}

/** What kind can do. Every method throws KindMissing, ContainerEngineMissing, or KindError for what else failed. */
export interface Kind {
  /** Such as `0.33.0`. */
  version(): Promise<string>;
  /** The names of all clusters. */
  clusters(): Promise<readonly string[]>;
  /** @throws ClusterExists */
  create(cluster: ClusterWanted): Promise<void>;
  /** Deletes a cluster; one that is not there is fine. */
  delete(name: string): Promise<void>;
  /** Brings the images of an archive (OCI, or of `docker save`) to every node. @throws ClusterNotFound */
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
  /** Unless said, the one that is found on the path. */
  readonly program?: string;
  /** Beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The program `kind`, called anew for every question; not with `--quiet`, which keeps the reasons of failures to itself. */
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

/** kind has one exit code for all that fails, so its words are what tells; held against the real program by tests. */
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
