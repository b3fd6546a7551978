import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { run } from "./command.ts";
import { read } from "./kubectl.ts";
import { stateFolder } from "./site.ts";

const DEADLINE_MS = 15_000;

/** The repositories of the git server, in the local cluster's state; pushes go to these folders. */
const repositories = join(stateFolder, "cluster/repositories/platform");
const folder = join(repositories, "environment-chart.git");

/** The repository's URL for Argo CD, derived from a Repository's clone URL: one server has both. */
export async function chartUrl(): Promise<string> {
  const place = "--namespace=ephemeral-system";
  const { spec } = await read<{ spec: { cloneUrl: string } }>("erepo", "sample-backend", place);
  return spec.cloneUrl.replace("/sample-backend.git", "/environment-chart.git");
}

/** Commits a file to a branch, created from `main` if missing; without a text, the file's removal. */
export function commitFile(branch: string, path: string, text?: string): Promise<void> {
  return commit(branch, path, (target) => (text === undefined ? rm(target) : writeFile(target, text)));
}

/** Commits a folder with its content, as `commitFile`. */
export function commitFolder(branch: string, path: string, source: string): Promise<void> {
  return commit(branch, path, (target) => cp(source, target, { recursive: true }));
}

async function commit(branch: string, path: string, write: (target: string) => Promise<void>): Promise<void> {
  const copy = await mkdtemp(join(tmpdir(), "e2e-chart-"));
  try {
    // By git's protocol: a local clone copies files, also those that another story's push moves meanwhile.
    await git(copy, "clone", "--quiet", "--no-local", folder, ".");
    const known = await git(copy, "branch", "--remotes", "--list", `origin/${branch}`);
    await git(copy, "checkout", "--quiet", "-B", branch, known === "" ? "origin/main" : `origin/${branch}`);
    await mkdir(dirname(join(copy, path)), { recursive: true });
    await write(join(copy, path));
    await git(copy, "add", path);
    await git(copy, "commit", "--quiet", "--message", `Write ${path}`);
    await git(copy, "push", "--quiet", "origin", branch);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** The head of a branch of this or another repository of the git server. */
export async function headOf(branch: string, repository = "environment-chart"): Promise<string> {
  return (await git(join(repositories, `${repository}.git`), "rev-parse", `refs/heads/${branch}`)).trim();
}

export async function removeBranch(branch: string): Promise<void> {
  await git(folder, "update-ref", "-d", `refs/heads/${branch}`);
}

async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const name = "E2E";
  const email = "e2e@example.test";
  const env = {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
  };
  const { code, stdout, stderr } = await run("git", { args, cwd, env, deadlineMs: DEADLINE_MS });
  if (code !== 0) throw new Error(`git ${args.join(" ")} ended with ${code}: ${stderr}`);
  return stdout;
}
