import { existsSync } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { run, withoutProxies } from "../../build/run.ts";
import { gitServerUrl } from "../network/addresses.ts";
import { type Commit, importStream } from "./fast-import.ts";

/** A repository that the local cluster serves. */
export interface LocalRepository {
  readonly name: string;
  /** Readable without credentials. */
  readonly url: string;
  /** The first head of its branch `main`: the same on every machine for the same files. */
  readonly commit: string;
}

/** A component of the sample application. */
export type SampleComponent = "backend" | "frontend";

/** A repository of the sample. Its branch `feature/cart` has one commit more than `main`. */
export interface SampleRepository extends LocalRepository {
  readonly cartCommit: string;
}

/** The served repositories by content. */
export interface LocalRepositories {
  readonly chart: LocalRepository;
  readonly backend: SampleRepository;
  readonly frontend: SampleRepository;
}

/** The branch of the sample's repositories that answers differently from `main`. */
export const CART_BRANCH = "feature/cart";

const chartFolder = resolve(import.meta.dirname, "../../charts/environment");
const sampleFolder = resolve(import.meta.dirname, "../sample");
/** Seeds of databases, which the image of seeds has too. */
const seedFolder = resolve(import.meta.dirname, "../seed");
const SEED_FILES = ["shop.sql", "broken.sql"];
const cartFile = "cart.go";
const cartBuildTag = "//go:build cart\n\n";
const AUTHOR = { name: "Local cluster", email: "local-cluster@example.test" };
const AT = "2026-01-01T00:00:00Z";

/**
 * Makes the missing bare repositories below `<folder>/platform` from the checkout's files. The chart's `main` always follows
 * the checkout; the sample's branches are made once, so that later pushes stay.
 */
export async function makeRepositories(folder: string): Promise<LocalRepositories> {
  const parent = join(folder, "platform");
  await mkdir(parent, { recursive: true });
  const [chart, backend, frontend] = await Promise.all([
    makeChart(parent),
    makeSample(parent, "backend"),
    makeSample(parent, "frontend"),
  ]);
  return { chart, backend, frontend };
}

async function makeChart(parent: string): Promise<LocalRepository> {
  const name = "environment-chart";
  const files = await filesBelow(chartFolder);
  const message = `Publish ${name}`;
  const [commit = ""] = await write(await bareRepository(parent, name), [{ branch: "main", message, files }], ["main"]);
  return { name, url: urlOf(name), commit };
}

async function makeSample(parent: string, component: "backend" | "frontend"): Promise<SampleRepository> {
  const name = `sample-${component}`;
  const sources = await filesBelow(sampleFolder);
  const cart = (sources.get(cartFile) as string).replace(cartBuildTag, "");
  sources.delete(cartFile);
  if (component === "backend") {
    for (const file of SEED_FILES) sources.set(`seed/${file}`, await readFile(join(seedFolder, file), "utf8"));
  }
  // Makes the commits of the two components differ: they share their sources.
  sources.set("README.md", readme(component));
  const commits: readonly Commit[] = [
    { branch: "main", message: `Publish ${name}`, files: sources },
    { branch: CART_BRANCH, message: "Add the cart", files: new Map([[cartFile, cart]]), after: 0 },
  ];
  const repository = await bareRepository(parent, name);
  const known = await branchesOf(repository);
  const missing = commits.map(({ branch }) => branch).filter((branch) => !known.includes(branch));
  const [commit = "", cartCommit = ""] = await write(repository, commits, missing);
  return { name, url: urlOf(name), commit, cartCommit };
}

/** Texts of the files of that folder and of those below it. */
async function filesBelow(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const read = async (path: string) => [relative(folder, path), await readFile(path, "utf8")] as const;
  return new Map(await Promise.all(paths.sort().map(read)));
}

async function bareRepository(parent: string, name: string): Promise<string> {
  const repository = join(parent, `${name}.git`);
  if (!existsSync(repository)) await git(parent, ["init", "--quiet", "--bare", "--initial-branch", "main", repository]);
  return repository;
}

async function branchesOf(repository: string): Promise<readonly string[]> {
  return (await git(repository, ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"])).split("\n");
}

/** Writes the commits, moves these branches to them, and answers the commits' ids in order. */
async function write(
  repository: string,
  commits: readonly Commit[],
  branches: readonly string[],
): Promise<readonly string[]> {
  const input = importStream(commits, branches, { ...AUTHOR, seconds: Date.parse(AT) / 1000 });
  return (await git(repository, ["fast-import", "--quiet", "--force"], { input })).trim().split("\n");
}

function urlOf(name: string): string {
  return `${gitServerUrl}/platform/${name}.git`;
}

/** Further inputs of git: environment variables, for values that other users must not see among the arguments, and its input. */
interface GitOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
}

/** Runs git without user settings and at a fixed time, so that the same files give the same commit. */
export function git(folder: string, args: readonly string[], { env = {}, input }: GitOptions = {}): Promise<string> {
  const who = { NAME: AUTHOR.name, EMAIL: AUTHOR.email, DATE: AT };
  const identity = Object.entries(who).flatMap(([key, value]) =>
    [`GIT_AUTHOR_${key}`, `GIT_COMMITTER_${key}`].map((name) => [name, value]),
  );
  const fixed = {
    ...withoutProxies(process.env),
    ...Object.fromEntries(identity),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
  };
  return run("git", args, { cwd: folder, env: { ...fixed, ...env }, ...(input !== undefined && { input }) });
}

function readme(component: string): string {
  return `# sample-${component}\n\nThe sample application, run as its ${component}: \`sample ${component}\`.\n`;
}
