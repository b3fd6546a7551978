import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Progress } from "./progress.ts";
import { run } from "./run.ts";

/** One Go module of ours, built into one folder of the cache. */
export interface GoComponent {
  readonly name: string;
  /** The folder of its go.mod, relative to this one. */
  readonly folder: string;
  /** What `go build` is given: `.` for a program of ours, `tool` for the tools its go.mod names. */
  readonly target: "." | "tool";
  readonly cgo?: boolean;
  readonly tags?: string;
  readonly ldflags?: string;
  /** Further names for the program that was built (it chooses its work by the name it is called by). */
  readonly links?: { readonly to: string; readonly names: readonly string[] };
  /** Files, and scripts to be called, that are needed while it runs and stand in a module's source folder. */
  readonly files?: { readonly module: string; readonly paths: readonly string[]; readonly scripts?: readonly string[] };
}

const kubernetesVersion =
  "-X k8s.io/component-base/version.gitVersion=v1.36.1 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36";

/** Everything the local cluster is built from. Versions stand in each module's go.mod. */
export const goComponents = {
  controlplane: {
    name: "controlplane",
    folder: "components/controlplane",
    target: ".",
    ldflags: kubernetesVersion,
    links: {
      to: "controlplane",
      names: [
        ...["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl"],
        ...["argocd-application-controller", "argocd-repo-server", "redis"],
      ],
    },
    files: {
      module: "github.com/argoproj/argo-cd/v3",
      paths: ["manifests/crds"],
      scripts: ["hack/git-verify-wrapper.sh"],
    },
  },
  containerd: { name: "containerd", folder: "components/containerd", target: "tool" },
  coredns: { name: "coredns", folder: "components/coredns", target: "tool" },
  gitea: {
    name: "gitea",
    folder: "components/gitea",
    target: "tool",
    cgo: true,
    tags: "sqlite sqlite_unlock_notify",
    files: { module: "code.gitea.io/gitea", paths: ["templates", "options", "public"] },
  },
  helm: { name: "helm", folder: "components/helm", target: "tool" },
  pause: { name: "pause", folder: "components/pause", target: "." },
  sample: { name: "sample", folder: "sample", target: "." },
  traefik: { name: "traefik", folder: "components/traefik", target: "tool" },
} as const satisfies Record<string, GoComponent>;

/** Where one component was built: its programs, and the source files it needs while it runs. */
export interface BuiltComponent {
  readonly programs: string;
  readonly files: string;
}

/**
 * The built component, from the cache or built now (minutes on a cold machine, then shown as a step).
 *
 * A cache folder is named by the hash of the component's sources and flags and appears complete or not at all,
 * so a build that was killed is never used, and two builds at once are harmless.
 */
export async function buildComponent(component: GoComponent, progress: Progress): Promise<BuiltComponent> {
  const target = await cacheFolder(component);
  if (!existsSync(target)) {
    await progress.step(`build ${component.name}`, () => buildInto(target, component));
  }
  return builtIn(target);
}

/** The component in the cache, or undefined when it is not built. */
export async function builtComponent(component: GoComponent): Promise<BuiltComponent | undefined> {
  const target = await cacheFolder(component);
  return existsSync(target) ? builtIn(target) : undefined;
}

async function cacheFolder(component: GoComponent): Promise<string> {
  return join(cacheRoot(), `${component.name}-${await sourceHash(component)}`);
}

function builtIn(target: string): BuiltComponent {
  return { programs: join(target, "programs"), files: join(target, "files") };
}

/** The folder that keeps the built programs of all checkouts on this machine; safe to delete. */
export function cacheRoot(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "ephemeral-environments");
}

/** Sixteen hexadecimal digits that change whenever a source file or a build flag of the component does. */
export async function sourceHash(component: GoComponent): Promise<string> {
  const folder = folderOf(component);
  const names = (await readdir(folder)).filter((name) => /^go\.(mod|sum)$|\.go$/.test(name)).sort();
  const hash = createHash("sha256").update(JSON.stringify(component));
  for (const name of names) hash.update(`\0${name}\0`).update(await readFile(join(folder, name)));
  return hash.digest("hex").slice(0, 16);
}

async function buildInto(target: string, component: GoComponent): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const unfinished = await mkdtemp(`${target}.unfinished-`);
  try {
    await compile(component, join(unfinished, "programs"));
    await copyModuleFiles(component, join(unfinished, "files"));
    await chmod(unfinished, 0o755);
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
}

async function compile(component: GoComponent, programs: string): Promise<void> {
  const { cgo = false, tags = "", ldflags = "", links } = component;
  await mkdir(programs, { recursive: true });
  const flags = ["-trimpath", "-tags", tags, "-ldflags", `-s -w ${ldflags}`];
  await run("go", ["build", ...flags, "-o", `${programs}/`, component.target], {
    cwd: folderOf(component),
    env: { ...process.env, CGO_ENABLED: cgo ? "1" : "0" },
    deadlineMs: 30 * 60_000,
  });
  for (const name of links?.names ?? []) await symlink(links?.to ?? "", join(programs, name));
}

async function copyModuleFiles({ files, ...component }: GoComponent, target: string): Promise<void> {
  if (!files) return;
  const format = ["list", "-m", "-f", "{{.Dir}}", files.module];
  const source = (await run("go", format, { cwd: folderOf(component) })).trim();
  const scripts = files.scripts ?? [];
  for (const path of [...files.paths, ...scripts])
    await cp(join(source, path), join(target, path), { recursive: true });
  // The module cache is read-only; a copy that can't be changed can't be deleted by its owner either.
  await run("chmod", ["-R", "u+w,a+rX", target]);
  // A module's archive does not keep which files can be executed.
  for (const script of scripts) await chmod(join(target, script), 0o755);
}

function folderOf(component: Pick<GoComponent, "folder">): string {
  return join(import.meta.dirname, component.folder);
}
