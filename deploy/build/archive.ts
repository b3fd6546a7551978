import { hash } from "node:crypto";
import { constants, copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Layer, packTo, writeLayer } from "./layer.ts";

/** Inputs of a container image. */
export interface Image {
  /** The name that containerd gives the imported image, such as `docker.io/local/sample-backend:1f0c…`. */
  readonly reference: string;
  /** Layers, the lowest first. */
  readonly layers: readonly Layer[];
  /** The configuration of an OCI image: `Entrypoint`, `Cmd`, `User`, `Env` … */
  readonly config: object;
  /** Architecture as in image specifications. Default: this machine's. */
  readonly architecture?: string;
}

/** A descriptor: https://github.com/opencontainers/image-spec/blob/main/descriptor.md */
interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

/**
 * Writes images into one archive, an OCI image layout as tar, without a container engine, and answers the digest of each
 * image's manifest. The same images give the same bytes. `ctr images import`, `docker load` (25 and newer), skopeo and crane
 * read it.
 *
 * https://github.com/opencontainers/image-spec/blob/main/image-layout.md
 */
export async function writeArchive(images: readonly Image[], target: string): Promise<readonly string[]> {
  // Beside the archive: leftovers of a killed run are removed with it.
  const work = await mkdtemp(`${target}.unfinished-`);
  try {
    await mkdir(join(work, "blobs/sha256"), { recursive: true });
    const manifests: object[] = [];
    const digests: string[] = [];
    for (const image of images) {
      const { reference } = image;
      const descriptor = await writeImage(image, work);
      // The first name is containerd's, the second the standard one.
      const annotations = {
        "io.containerd.image.name": reference,
        "org.opencontainers.image.ref.name": reference.replace(/^.*:/, ""),
      };
      manifests.push({ ...descriptor, platform: platform(image), annotations });
      digests.push(descriptor.digest);
    }
    await writeFile(join(work, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    const mediaType = "application/vnd.oci.image.index.v1+json";
    await writeFile(join(work, "index.json"), JSON.stringify({ schemaVersion: 2, mediaType, manifests }));
    await packTo(target, work);
    return digests;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function writeImage(image: Image, work: string): Promise<Descriptor> {
  const { layers } = image;
  const config = await writeBlob(work, "application/vnd.oci.image.config.v1+json", {
    created: "1970-01-01T00:00:00Z",
    ...platform(image),
    config: image.config,
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
  });
  for (const { file, digest } of layers) await copyFile(file, blob(work, digest), constants.COPYFILE_FICLONE);
  const described = layers.map(({ mediaType, digest, size }): Descriptor => ({ mediaType, digest, size }));
  return writeBlob(work, MANIFEST, { schemaVersion: 2, mediaType: MANIFEST, config, layers: described });
}

async function writeBlob(work: string, mediaType: string, content: object): Promise<Descriptor> {
  const bytes = Buffer.from(JSON.stringify(content));
  const digest = `sha256:${hash("sha256", bytes)}`;
  await writeFile(blob(work, digest), bytes);
  return { mediaType, digest, size: bytes.length };
}

function blob(work: string, digest: string): string {
  return join(work, "blobs", digest.replace(":", "/"));
}

function platform({ architecture = machineArchitecture() }: Image) {
  return { architecture, os: "linux" };
}

/** The processor of this machine, as in image specifications. */
export function machineArchitecture(): string {
  return process.arch === "x64" ? "amd64" : process.arch;
}

/** A container image to be: its name, the folders that become its layers, and how it runs. */
export interface ImageSpec extends Pick<Image, "reference" | "config"> {
  /** Root folders, lowest layer first. Owner and times are not kept, nor modes but whether a file can be executed. */
  readonly layers: readonly string[];
}

/**
 * Packs images of folders into one archive for this machine's containerd. The same files give the same digests, compressed
 * ones only with the same Node.
 */
export async function packImages(
  images: readonly ImageSpec[],
  target: string,
  { gzip = false }: { readonly gzip?: boolean } = {},
): Promise<void> {
  const work = await mkdtemp(`${target}.layers-`);
  try {
    // Images share folders, and then layers.
    const packed = new Map<string, Layer>();
    for (const folder of new Set(images.flatMap(({ layers }) => layers)))
      packed.set(folder, await writeLayer(folder, join(work, String(packed.size)), { gzip }));
    const layersOf = ({ layers }: ImageSpec) => layers.flatMap((folder) => packed.get(folder) ?? []);
    await writeArchive(
      images.map((image) => ({ ...image, layers: layersOf(image) })),
      target,
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
