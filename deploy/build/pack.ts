import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Image, writeArchive } from "./archive.ts";
import { type Layer, writeLayer } from "./layer.ts";

/** A container image to be: its name, the folders that become its layers, and how it runs. */
export interface ImageSpec extends Pick<Image, "reference" | "config"> {
  /** Root folders, lowest layer first. Owner and times are not kept, nor modes but whether a file can be executed. */
  readonly layers: readonly string[];
}

/** Packs images of folders into one archive for this machine's containerd. The same files give the same digests. */
export async function packImages(images: readonly ImageSpec[], target: string): Promise<void> {
  const work = await mkdtemp(`${target}.layers-`);
  try {
    // Images share folders, and then layers.
    const packed = new Map<string, Layer>();
    for (const folder of new Set(images.flatMap(({ layers }) => layers)))
      packed.set(folder, await writeLayer(folder, join(work, String(packed.size)), { gzip: false }));
    const layersOf = ({ layers }: ImageSpec) => layers.flatMap((folder) => packed.get(folder) ?? []);
    await writeArchive(
      images.map((image) => ({ ...image, layers: layersOf(image) })),
      target,
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
