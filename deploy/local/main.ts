import { enableCompileCache } from "node:module";
import { stateFolder } from "../build/folders.ts";
import { showProgress } from "../build/progress.ts";
import { compileCacheIn } from "../bundle/operator-bundle.ts";

const usage = `Usage: main.ts COMMAND

The local cluster: a real Kubernetes with Argo CD, an ingress, a git host and an identity provider, without Docker.

  up        start what is missing and make the environment hello; says what to do next
  bare      start the cluster without the platform, but with its image, for an installation by helm ("make e2e-install")
  gitea     start a git host beside it: repositories whose pull requests get environments, and an image registry
  pr        open a pull request there, or take the open one, and follow it to the URL of its environment
  podinfo   build podinfo, with a Redis for its chart, and lay out what their images are made of
  down      stop it and leave nothing behind
  status    which programs run

With CLUSTER=existing, the cluster of KUBECONFIG's current context instead, with the settings of SETTINGS (deploy/examples/settings.yaml):

  up        install the platform there, run its operator on this machine; says what to do next. Asks for the context's name
            first, unless YES=1 or --yes is given
  down      stop the operator; what is in the cluster stays

With CLUSTER=kind, a cluster of kind (https://kind.sigs.k8s.io), for machines with Docker:

  up        make the cluster, install Argo CD, an ingress and the platform there, and make the environment hello; with
            IMAGE=<repository>@sha256:… the image of a release instead of the one of this checkout
  down      delete the cluster

State is kept in STATE_FOLDER (default: .local).
`;

const [name = "--help", ...flags] = process.argv.slice(2);
const yes = flags.includes("--yes") || process.env.YES === "1";

type Commands = Readonly<Record<string, () => Promise<void>>>;

/** Loaded on demand: each kind of cluster needs other modules. */
const clusters: Readonly<Record<string, Commands>> = {
  local: {
    up: async () => (await import("./up.ts")).up(),
    bare: async () => (await import("./bare.ts")).startBareCluster(),
    async gitea() {
      const { withGitea } = await import("./cluster.ts");
      await withGitea(showProgress(), async () => undefined);
      const { administratorFile } = await import("./git/gitea.ts");
      const { giteaUrl } = await import("./network/addresses.ts");
      console.log(`Gitea answers at ${giteaUrl}; its administrator's name and password: ${administratorFile}
Pull requests of ${giteaUrl}/shop/backend and ${giteaUrl}/shop/frontend get environments; "make pr" opens one.`);
    },
    async pr() {
      const { withGitea } = await import("./cluster.ts");
      const { showPullRequest } = await import("./pull-request.ts");
      await withGitea(showProgress(), showPullRequest);
    },
    async podinfo() {
      const { layOutPodinfo } = await import("./podinfo.ts");
      const { chart, podinfo, redis } = await layOutPodinfo(showProgress());
      console.log(`The chart of podinfo is in ${chart}, the roots of the images in ${podinfo} and ${redis}`);
    },
    async down() {
      const { stopCluster } = await import("./cleanup/cleanup.ts");
      await showProgress().step("stop the local cluster", stopCluster);
    },
    status,
  },
  existing: {
    up: async () => (await import("./existing/up.ts")).up(yes),
    down: async () => (await import("./existing/down.ts")).down(),
    status,
  },
  kind: {
    up: async () => (await import("./kind/commands.ts")).up(),
    down: async () => (await import("./kind/commands.ts")).down(),
    status,
  },
};

/** Keeps compiled modules of this program and of those that it starts from their sources: a start compiles what has changed. */
function keepCompiledModules(): void {
  const cache = compileCacheIn(stateFolder);
  Object.assign(process.env, cache);
  enableCompileCache(cache.NODE_COMPILE_CACHE);
}

async function status(): Promise<void> {
  const { programStatus } = await import("./cleanup/cleanup.ts");
  const programs = await programStatus();
  for (const { name, pid, running, logFile } of programs) {
    console.log(`${running ? "running" : "ended  "}  ${String(pid).padStart(7)}  ${name.padEnd(30)} ${logFile}`);
  }
  if (programs.length === 0) console.log("Nothing runs: no local cluster, and no platform for an existing one.");
}

const CLUSTER = process.env.CLUSTER || "local";
const command = clusters[CLUSTER]?.[name];
if (command) {
  if (name === "up") keepCompiledModules();
  await command().catch((error: Error) => {
    console.error(`\n${error.message}`);
    process.exitCode = 1;
  });
} else {
  console.log(usage);
  process.exitCode = ["--help", "help"].includes(name) ? 0 : 2;
}
