import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { gitHostUrl } from "./addresses.ts";
import { run, withoutProxies } from "./run.ts";

/** A repository of the local git host. */
export interface LocalRepository {
  /** Its name on the host, in the organization `platform`. */
  readonly name: string;
  /** Readable without credentials. */
  readonly url: string;
  /** The working copy that was pushed. */
  readonly folder: string;
  /** The head of its branch `main`: the same on every machine for the same files. */
  readonly commit: string;
}

/** The repositories that the local cluster serves, by what they hold. */
export interface LocalRepositories {
  readonly chart: LocalRepository;
  readonly backend: LocalRepository;
  readonly frontend: LocalRepository;
}

const chartFolder = resolve(import.meta.dirname, "../charts/environment");
const sampleFolder = join(import.meta.dirname, "sample");

/** Makes the working copies, each one commit of the files as they are now, below the folder. */
export async function makeRepositories(folder: string): Promise<LocalRepositories> {
  const sample = (component: string) =>
    makeRepository(folder, `sample-${component}`, { from: sampleFolder, readme: readme(component) });
  const [chart, backend, frontend] = await Promise.all([
    makeRepository(folder, "environment-chart", { from: chartFolder }),
    sample("backend"),
    sample("frontend"),
  ]);
  return { chart, backend, frontend };
}

interface Content {
  readonly from: string;
  /** Makes the commits of the two components differ: they share their sources. */
  readonly readme?: string;
}

async function makeRepository(parent: string, name: string, { from, readme }: Content): Promise<LocalRepository> {
  const folder = join(parent, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const entry of await readdir(from)) await cp(join(from, entry), join(folder, entry), { recursive: true });
  if (readme) await writeFile(join(folder, "README.md"), readme);
  await git(folder, ["init", "--quiet", "--initial-branch", "main"]);
  await git(folder, ["add", "--all"]);
  await git(folder, ["commit", "--quiet", "--message", `Publish ${name}`]);
  const commit = (await git(folder, ["rev-parse", "HEAD"])).trim();
  return { name, url: `${gitHostUrl}/platform/${name}.git`, folder, commit };
}

/** Runs git without anybody's settings and at a fixed time, so that the same files give the same commit. */
export function git(folder: string, args: readonly string[], more: Record<string, string> = {}): Promise<string> {
  const who = { NAME: "Local cluster", EMAIL: "local-cluster@example.test", DATE: "2026-01-01T00:00:00Z" };
  const identity = Object.entries(who).flatMap(([key, value]) =>
    [`GIT_AUTHOR_${key}`, `GIT_COMMITTER_${key}`].map((name) => [name, value]),
  );
  const env = {
    ...withoutProxies(process.env),
    ...Object.fromEntries(identity),
    ...more,
    ...{ GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", GIT_TERMINAL_PROMPT: "0" },
  };
  return run("git", args, { cwd: folder, env });
}

function readme(component: string): string {
  return `# sample-${component}\n\nThe sample application, run as its ${component}: \`sample ${component}\`.\n`;
}
