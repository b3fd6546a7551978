import { hash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { writeArchive } from "../build/archive.ts";
import { cacheRoot, hashOfFiles, intoCache } from "../build/folders.ts";
import { type Layer, writeLayer } from "../build/layer.ts";
import { run } from "../build/run.ts";
import { nodeFlags } from "../bundle/operator-bundle.ts";
import { layOutBase, paths, USER } from "./base.ts";
import { layOutCode, mainFile } from "./code.ts";
import { layOutDependencies } from "./dependencies.ts";
import { readPins } from "./pins.ts";
import { billOfMaterials } from "./sbom.ts";

/** The platform's built image. */
export interface BuiltImage {
  /** The root file system: all layers together. */
  readonly root: string;
  readonly archive: string;
  readonly sbom: string;
  /** `sha256:…` of the manifest, used by registries and the chart. */
  readonly digest: string;
  /** The name without tag and digest. */
  readonly repository: string;
  /** The name that containerd gives the imported image. */
  readonly reference: string;
  readonly layers: Readonly<Record<"base" | "dependencies" | "code", Layer>>;
}

/** The name of an unpublished image. */
const repository = "docker.io/library/ephemeral-environments";

/** Configuration of the image's containers. */
export const config = {
  User: `${USER}:${USER}`,
  WorkingDir: "/app",
  Entrypoint: [paths.node, ...nodeFlags, mainFile],
  Cmd: ["--help"],
  // Otherwise Node knows only its built-in authorities.
  Env: ["NODE_ENV=production", "NODE_OPTIONS=--use-openssl-ca", `SSL_CERT_FILE=${paths.certificates}`],
  ExposedPorts: { "8080/tcp": {}, "9090/tcp": {} },
  Labels: {
    "org.opencontainers.image.title": packageJson.name,
    "org.opencontainers.image.description": packageJson.description,
    "org.opencontainers.image.version": packageJson.version,
    "org.opencontainers.image.licenses": packageJson.license,
  },
} as const;

/**
 * Lays out the root file system as `<folder>/rootfs` and writes the archive `<folder>/image.tar`. The same commit gives the
 * same digest. Unchanged layers come from the cache.
 */
export async function buildImage(folder: string): Promise<BuiltImage> {
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(folder, "unfinished-"));
  try {
    const base = await cachedLayer("base", await pinnedHash(), async (root, beside) =>
      layOutBase(root, await readPins(), beside),
    );
    const dependencies = await cachedLayer("dependencies", await lockedHash(), layOutDependencies);
    const code = await layer(join(work, "code"), layOutCode);
    const roots = [base, dependencies, code];
    const root = join(work, "rootfs");
    await mkdir(root);
    for (const each of roots) await run("cp", ["-R", `${each.root}/.`, root]);
    // As in the layers, whatever the umask.
    await run("chmod", ["-R", "u=rwX,go=rX", root]);
    const reference = `${repository}:${packageJson.version}`;
    const archive = join(work, "image.tar");
    const [digest = ""] = await writeArchive([{ reference, layers: roots, config }], archive);
    const built = {
      root: join(folder, "rootfs"),
      archive: join(folder, "image.tar"),
      sbom: join(folder, "sbom.cdx.json"),
    };
    await writeFile(built.sbom, `${JSON.stringify(await billOfMaterials(), undefined, 2)}\n`);
    await rm(built.root, { recursive: true, force: true });
    await rename(root, built.root);
    await rename(archive, built.archive);
    return { ...built, digest, repository, reference, layers: { base, dependencies, code } };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

interface RootLayer extends Layer {
  readonly root: string;
}

type LayOut = (root: string, work: string) => Promise<void>;

const LAYER_FILE = "layer.json";

async function cachedLayer(name: string, hash: string, layOut: LayOut): Promise<RootLayer> {
  const target = join(cacheRoot(), `image-${name}-${hash}`);
  const read = async () => JSON.parse(await readFile(join(target, LAYER_FILE), "utf8")) as Layer;
  const known = await read().catch(() => undefined);
  if (!known)
    await intoCache(target, async (folder) => {
      await writeFile(join(folder, LAYER_FILE), JSON.stringify(await layer(folder, layOut)));
    });
  return { ...(known ?? (await read())), ...filesIn(target) };
}

async function layer(folder: string, layOut: LayOut): Promise<RootLayer> {
  const { root, file } = filesIn(folder);
  await mkdir(root, { recursive: true });
  await layOut(root, folder);
  return { ...(await writeLayer(root, file, { gzip: true })), root };
}

const filesIn = (folder: string) => ({ root: join(folder, "root"), file: join(folder, "layer.tar.gz") });

const deploy = join(import.meta.dirname, "..");

/** Changes with what the lowest layer is made of and how. */
function pinnedHash(): Promise<string> {
  const sources = ["build/{archive,layer}.ts", "image/{base,debian}.ts", "image/pins.*"];
  return hashOfFiles(deploy, sources, process.version);
}

async function lockedHash(): Promise<string> {
  const lock = await readFile(join(deploy, "../package-lock.json"));
  const text = `${process.version} ${hash("sha256", lock)}`;
  return hashOfFiles(deploy, ["build/layer.ts", "image/dependencies.ts"], text);
}
