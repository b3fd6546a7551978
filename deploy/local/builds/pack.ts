import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Image, writeArchive } from "../../image/archive.ts";
import { type Layer, writeLayer } from "../../image/layer.ts";

/** Inputs of a container image: its name, the folders of its layers, and its configuration. */
export interface ImageSpec extends Pick<Image, "reference" | "config"> {
  /** Root folders, lowest layer first. Owners, times and modes are dropped, except the executable bit. */
  readonly layers: readonly string[];
}

/** Packs images of folders into one archive for containerd. The same files give the same digests. */
export async function packImages(images: readonly ImageSpec[], target: string): Promise<void> {
  const work = await mkdtemp(`${target}.layers-`);
  try {
    // Images that share a folder share its layer.
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
