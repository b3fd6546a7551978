import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { run, withoutProxies } from "../../build/run.ts";
import { gitServerUrl } from "../network/addresses.ts";

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

/**
 * Makes the missing bare repositories below `<folder>/platform` from the checkout's files. The chart's `main` always follows
 * the checkout; the sample's branches are made once, so that later pushes stay.
 */
export async function makeRepositories(folder: string): Promise<LocalRepositories> {
  await mkdir(join(folder, "platform"), { recursive: true });
  const work = await mkdtemp(join(folder, "unfinished-"));
  try {
    const [chart, backend, frontend] = await Promise.all([
      makeChart(folder, work),
      makeSample(folder, work, "backend"),
      makeSample(folder, work, "frontend"),
    ]);
    return { chart, backend, frontend };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function makeChart(folder: string, work: string): Promise<LocalRepository> {
  const name = "environment-chart";
  const copy = await workingCopy(work, name);
  await copyFiles(chartFolder, copy, await readdir(chartFolder));
  const commit = await commitAll(copy, `Publish ${name}`);
  await publish(copy, folder, { branches: ["main"], force: true });
  return { name, url: urlOf(name), commit };
}

async function makeSample(folder: string, work: string, component: "backend" | "frontend"): Promise<SampleRepository> {
  const name = `sample-${component}`;
  const copy = await workingCopy(work, name);
  await copyFiles(
    sampleFolder,
    copy,
    (await readdir(sampleFolder)).filter((file) => file !== cartFile),
  );
  if (component === "backend") {
    for (const file of SEED_FILES) await cp(join(seedFolder, file), join(copy, "seed", file));
  }
  // Makes the commits of the two components differ: they share their sources.
  await writeFile(join(copy, "README.md"), readme(component));
  const commit = await commitAll(copy, `Publish ${name}`);
  await git(copy, ["checkout", "--quiet", "-b", CART_BRANCH]);
  const cart = await readFile(join(sampleFolder, cartFile), "utf8");
  await writeFile(join(copy, cartFile), cart.replace(cartBuildTag, ""));
  const cartCommit = await commitAll(copy, "Add the cart");
  await publish(copy, folder, { branches: ["main", CART_BRANCH], force: false });
  return { name, url: urlOf(name), commit, cartCommit };
}

async function workingCopy(work: string, name: string): Promise<string> {
  const copy = join(work, name);
  await mkdir(copy);
  await git(copy, ["init", "--quiet", "--initial-branch", "main"]);
  return copy;
}

async function copyFiles(from: string, into: string, names: readonly string[]): Promise<void> {
  for (const name of names) await cp(join(from, name), join(into, name), { recursive: true });
}

async function commitAll(copy: string, message: string): Promise<string> {
  await git(copy, ["add", "--all"]);
  await git(copy, ["commit", "--quiet", "--message", message]);
  return (await git(copy, ["rev-parse", "HEAD"])).trim();
}

interface Publication {
  readonly branches: readonly string[];
  /** True: existing branches are moved. */
  readonly force: boolean;
}

async function publish(copy: string, folder: string, { branches, force }: Publication): Promise<void> {
  const bare = join(folder, "platform", `${copy.slice(copy.lastIndexOf("/") + 1)}.git`);
  if (!existsSync(bare)) await git(folder, ["init", "--quiet", "--bare", "--initial-branch", "main", bare]);
  for (const branch of branches) {
    const isThere = (await git(bare, ["branch", "--list", branch])) !== "";
    if (!isThere || force) await git(copy, ["push", "--quiet", "--force", bare, branch]);
  }
}

function urlOf(name: string): string {
  return `${gitServerUrl}/platform/${name}.git`;
}

/**
 * Runs git without user settings and at a fixed time, so that the same files give the same commit. `more` holds environment
 * variables, for values that other users of the machine must not see among the arguments.
 */
export function git(folder: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> {
  const who = { NAME: "Local cluster", EMAIL: "local-cluster@example.test", DATE: "2026-01-01T00:00:00Z" };
  const identity = Object.entries(who).flatMap(([key, value]) =>
    [`GIT_AUTHOR_${key}`, `GIT_COMMITTER_${key}`].map((name) => [name, value]),
  );
  const env = {
    ...withoutProxies(process.env),
    ...Object.fromEntries(identity),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
    ...more,
  };
  return run("git", args, { cwd: folder, env });
}

function readme(component: string): string {
  return `# sample-${component}\n\nThe sample application, run as its ${component}: \`sample ${component}\`.\n`;
}
