import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";

const execute = promisify(execFile);

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly platform?: { readonly os: string; readonly architecture: string };
}

/** An image in an archive, read as specified. */
export interface ReadImage {
  readonly descriptor: Descriptor;
  readonly config: {
    readonly config: Readonly<Record<string, unknown>>;
    readonly rootfs: { readonly diff_ids: string[] };
  };
  /** Tar archives, the lowest layer first. */
  readonly layers: readonly Buffer[];
}

/**
 * Reads the images of an OCI image layout in a tar archive, independently of its writer, below a new folder in `parent`.
 * Fails for a blob with another size or digest than described, and for an undescribed one.
 *
 * https://github.com/opencontainers/image-spec/blob/main/image-layout.md
 */
export async function readImages(archive: string, parent: string): Promise<readonly ReadImage[]> {
  const folder = await mkdtemp(join(parent, "layout-"));
  await execute("tar", ["-xf", archive, "-C", folder]);
  const read = new Set<string>();
  const blob = async ({ digest, size }: Descriptor): Promise<Buffer> => {
    read.add(digest.replace("sha256:", ""));
    const content = await readFile(join(folder, "blobs", digest.replace(":", "/")));
    if (content.length !== size) throw new Error(`${digest} has ${content.length} bytes instead of ${size}`);
    if (sha256(content) !== digest) throw new Error(`${digest} has another digest: ${sha256(content)}`);
    return content;
  };
  const document = async <T>(descriptor: Descriptor) => JSON.parse((await blob(descriptor)).toString()) as T;
  const layout = JSON.parse(await readFile(join(folder, "oci-layout"), "utf8"));
  if (layout.imageLayoutVersion !== "1.0.0") throw new Error(`unknown layout: ${JSON.stringify(layout)}`);
  const index = JSON.parse(await readFile(join(folder, "index.json"), "utf8")) as { manifests: Descriptor[] };
  const images: ReadImage[] = [];
  for (const descriptor of index.manifests) {
    const manifest = await document<{ config: Descriptor; layers: Descriptor[] }>(descriptor);
    const layers: Buffer[] = [];
    for (const layer of manifest.layers) layers.push(unpacked(layer, await blob(layer)));
    const config = await document<ReadImage["config"]>(manifest.config);
    const found = layers.map(sha256);
    if (found.join() !== config.rootfs.diff_ids.join())
      throw new Error(`layers are ${found}, not ${config.rootfs.diff_ids}`);
    images.push({ descriptor, config, layers });
  }
  const strangers = (await readdir(join(folder, "blobs/sha256"))).filter((name) => !read.has(name));
  if (strangers.length > 0) throw new Error(`nothing describes ${strangers}`);
  return images;
}

/** Extracts an image's layers in order, as a runtime does without deletions. */
export async function extractRoot(image: ReadImage, root: string): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const [index, layer] of image.layers.entries()) {
    const file = `${root}-layer-${index}.tar`;
    await writeFile(file, layer);
    await execute("tar", ["-xpf", file, "-C", root]);
  }
}

/** The entries of a layer, as in `tar -tv`: `-rwxr-xr-x 0/0 126595440 1970-01-01 00:00 usr/bin/node`. */
export async function entriesOf(layer: Buffer, parent: string): Promise<readonly string[]> {
  const file = join(await mkdtemp(join(parent, "layer-")), "layer.tar");
  await writeFile(file, layer);
  const { stdout } = await execute("tar", ["--numeric-owner", "--utc", "-tvf", file], { maxBuffer: 64 * 2 ** 20 });
  return stdout.trim().split("\n");
}

function unpacked({ mediaType }: Descriptor, content: Buffer): Buffer {
  const tar = "application/vnd.oci.image.layer.v1.tar";
  if (mediaType === tar) return content;
  if (mediaType === `${tar}+gzip`) return gunzipSync(content);
  throw new Error(`unknown media type of a layer: ${mediaType}`);
}

function sha256(content: Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
