import { createHash } from "node:crypto";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../processes/run.ts";

/** A container image to be: its name, the folders that become its layers, and how it runs. */
export interface ImageSpec {
  /** For example `docker.io/local/sample-backend:1f0c…`. */
  readonly reference: string;
  /** Root folders, lowest layer first. Owner and times are not kept, file modes are. */
  readonly layers: readonly string[];
  /** The configuration part of an OCI image: `Entrypoint`, `Cmd`, `User`, `Env` … */
  readonly config: object;
}

/**
 * Packs images into one archive that `ctr images import` and `docker load` take, without a container engine.
 *
 * The same files give the same digests. https://github.com/moby/docker-image-spec/blob/main/spec.md
 */
export async function packImages(images: readonly ImageSpec[], target: string): Promise<void> {
  // Beside the archive: what a killed run leaves is removed with it.
  const work = await mkdtemp(`${target}.unfinished-`);
  try {
    const manifest: object[] = [];
    for (const image of images) manifest.push(await writeImage(image, work));
    await writeFile(join(work, "manifest.json"), JSON.stringify(manifest));
    await tar(target, work);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function writeImage({ reference, layers, config }: ImageSpec, work: string): Promise<object> {
  const digests: string[] = [];
  for (const layer of layers) digests.push(await writeLayer(layer, work));
  const rootfs = { type: "layers", diff_ids: digests.map((digest) => `sha256:${digest}`) };
  const content = JSON.stringify({
    architecture: architecture(),
    os: "linux",
    created: "1970-01-01T00:00:00Z",
    config,
    rootfs,
  });
  const name = `${sha256(Buffer.from(content))}.json`;
  await writeFile(join(work, name), content);
  return { Config: name, RepoTags: [reference], Layers: digests.map((digest) => `${digest}.tar`) };
}

async function writeLayer(folder: string, work: string): Promise<string> {
  const unnamed = join(work, "layer.tar");
  await tar(unnamed, folder);
  const digest = sha256(await readFile(unnamed));
  await rename(unnamed, join(work, `${digest}.tar`));
  return digest;
}

async function tar(target: string, folder: string): Promise<void> {
  const reproducible = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"];
  // Names without a leading "./": manifest.json must be found under exactly that name.
  await run("tar", [...reproducible, "--transform=s,^\\./,,", "-cf", target, "-C", folder, "."]);
}

/** Node's name of the processor as image specifications write it. */
function architecture(): string {
  return process.arch === "x64" ? "amd64" : process.arch;
}

function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
