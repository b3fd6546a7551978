/** Programs built from one of our Go modules into one cache folder. */
export interface GoModule {
  readonly name: string;
  /** The folder of its go.mod, below deploy/local. */
  readonly folder: string;
  /** Argument of `go build`: `./...` for our own programs, `tool` for the tools named in go.mod. */
  readonly target: "./..." | "tool";
  /**
   * Approximate processor seconds of a build after those before it in `goModules`; only their ratio matters, for estimates.
   */
  readonly buildSeconds: number;
  readonly cgo?: boolean;
  readonly tags?: string;
  readonly ldflags?: string;
  /** Links to a built program that chooses its work by the name it is called by. */
  readonly links?: { readonly to: string; readonly names: readonly string[] };
  /** Files and scripts that the programs need at run time, in a module's source folder. */
  readonly files?: { readonly module: string; readonly paths: readonly string[]; readonly scripts?: readonly string[] };
  /** Modules whose packages are partly replaced by those in the folder `replaced/<module>`. */
  readonly replaced?: readonly string[];
}

const kubernetesVersion =
  "-X k8s.io/component-base/version.gitVersion=v1.36.1 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36";

/**
 * Go modules in build order. Versions are in each go.mod; two modules that share a dependency name the same version of it,
 * so that Go compiles it once.
 */
export const goModules = {
  controlplane: {
    name: "controlplane",
    folder: "programs/kubernetes",
    target: "./...",
    buildSeconds: 1120,
    ldflags: kubernetesVersion,
    links: {
      to: "controlplane",
      names: [
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kubelet",
        "kube-proxy",
        "kubectl",
        "argocd",
        "argocd-application-controller",
        "argocd-repo-server",
        "helm",
        "redis",
      ],
    },
    files: {
      module: "github.com/argoproj/argo-cd/v3",
      paths: ["manifests/crds"],
      scripts: ["hack/git-verify-wrapper.sh"],
    },
  },
  containerd: { name: "containerd", folder: "programs/kubernetes", target: "tool", buildSeconds: 110 },
  pause: { name: "pause", folder: "programs/pause", target: "./...", buildSeconds: 2 },
  sample: { name: "sample", folder: "sample", target: "./...", buildSeconds: 10 },
  sampleCart: { name: "sample-cart", folder: "sample", target: "./...", tags: "cart", buildSeconds: 3 },
  traefik: {
    name: "traefik",
    folder: "programs/traefik",
    target: "tool",
    buildSeconds: 150,
    replaced: ["github.com/go-acme/lego/v4", "github.com/traefik/traefik/v3", "github.com/traefik/yaegi"],
  },
} as const satisfies Record<string, GoModule>;

/** The git host, built on demand. */
export const gitea = {
  name: "gitea",
  folder: "programs/gitea",
  target: "tool",
  buildSeconds: 750,
  cgo: true,
  tags: "sqlite sqlite_unlock_notify",
  files: { module: "code.gitea.io/gitea", paths: ["templates", "options", "public"] },
} as const satisfies GoModule;

/** The demo application podinfo with its chart, as its author publishes them: for tests with foreign charts. */
export const podinfo = {
  name: "podinfo",
  folder: "programs/podinfo",
  target: "tool",
  buildSeconds: 50,
  files: { module: "github.com/stefanprodan/podinfo", paths: ["charts/podinfo", "ui"] },
} as const satisfies GoModule;

/** A Redis for podinfo's chart, under the names that the chart calls. */
export const podinfoRedis = {
  name: "podinfo-redis",
  folder: "programs/podinfo",
  target: "./...",
  buildSeconds: 5,
  links: { to: "redis", names: ["redis-server", "redis-cli"] },
} as const satisfies GoModule;
