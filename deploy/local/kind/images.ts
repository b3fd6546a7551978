import { join } from "node:path";
import { packImages } from "../../build/archive.ts";
import { stateFolder } from "../../build/folders.ts";
import type { Progress } from "../../build/progress.ts";
import { buildImage } from "../../image/image.ts";
import { buildModule } from "../builds/build.ts";
import { goModules } from "../builds/modules.ts";
import { sampleImage, sampleImages } from "../components/images.ts";
import type { LocalRepositories } from "../git/repositories.ts";

/** The platform's image as values of the chart. */
export interface ImageValues {
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
  readonly pullPolicy: "IfNotPresent" | "Never";
}

/** The cluster's images and their source. */
export interface Images {
  readonly archives: readonly string[];
  readonly platform: ImageValues;
  /** Changes with the platform's image, even under the same name. */
  readonly fingerprint: string;
}

/** The chart's values for a release's image, `repository@sha256:…` or `repository:tag`. Fails for anything else. */
export function releasedImage(reference: string): ImageValues {
  const [, repository, tag, digest] = /^([^@\s]+?)(?::([\w.-]+))?(?:@(sha256:[0-9a-f]{64}))?$/.exec(reference) ?? [];
  if (!repository || !(tag || digest)) {
    throw new Error(`IMAGE=${reference} names no image: write <repository>@sha256:<digest>, or <repository>:<tag>.`);
  }
  return { repository, ...(tag && { tag }), ...(digest && { digest }), pullPolicy: "IfNotPresent" };
}

/** Prepares the sample's images and the platform's: a release's (`reference`), pulled by the nodes, or the checkout's. */
export async function prepareImages(
  folder: string,
  repositories: LocalRepositories,
  { reference, progress }: { readonly reference?: string | undefined; readonly progress: Progress },
): Promise<Images> {
  const built = {
    sample: await buildModule(goModules.sample, progress),
    sampleCart: await buildModule(goModules.sampleCart, progress),
  };
  const samples = join(folder, "samples.tar");
  const specs = await sampleImages({ folder, built, repositories }, (_, repository) => [sampleImage(repository)]);
  await packImages(specs, samples);
  if (reference) return { archives: [samples], platform: releasedImage(reference), fingerprint: reference };
  const image = await progress.step("build the image", () => buildImage(join(stateFolder, "image")));
  const tag = image.reference.slice(image.repository.length + 1);
  const platform = { repository: image.repository, tag, pullPolicy: "Never" } as const;
  return { archives: [samples, image.archive], platform, fingerprint: image.digest };
}
