import { chmod, cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ImageSpec, packImages } from "../../build/archive.ts";
import type { BuiltModule } from "../builds/build.ts";
import { postgresqlImage } from "../builds/postgresql.ts";
import type { SampleComponent } from "../git/repositories.ts";
import { shopImage } from "../git/shop.ts";
import type { ClusterSite } from "../site.ts";
import type { BuiltComponent } from "./component.ts";
import { containerd, pauseImage } from "./container-runtime.ts";

/** The images of pods, packed from the built programs and put into containerd. */
export const imagesComponent: BuiltComponent = {
  name: "images",
  after: ["containerd"],
  async start(site) {
    const images = await imageSpecs(site);
    const present = (await containerd(site, "images", "ls", "--quiet")).split("\n");
    if (!present.includes(`${postgresqlImage.repository}:${postgresqlImage.tag}`)) {
      // The first database's pod unpacks it, so that a start does not wait for that.
      await containerd(site, "images", "import", "--no-unpack", site.built.postgresqlArchive);
    }
    if (images.every(({ reference }) => present.includes(reference))) return;
    await addImages(site, images);
  },
};

async function addImages(site: ClusterSite, images: readonly ImageSpec[]): Promise<void> {
  const archive = join(site.folder, "images.tar");
  await packImages(images, archive);
  await containerd(site, "images", "import", archive);
  await rm(archive);
}

/** The image of a sample repository of the git server; its tag is the commit. */
export function sampleImage(repository: string): string {
  return `docker.io/local/${repository}`;
}

/** Puts the image of a shop commit into containerd, as if a pipeline had pushed it. */
export async function addShopImage(site: ClusterSite, component: SampleComponent, commit: string): Promise<void> {
  const main = await layer(site.built.sample, join(site.folder, "layers"));
  await addImages(site, [componentImage(component, { image: shopImage(component), commit, layer: main })]);
}

interface ComponentImage {
  readonly image: string;
  readonly commit: string;
  readonly layer: string;
}

function componentImage(component: SampleComponent, { image, commit, layer: root }: ComponentImage): ImageSpec {
  const config = {
    User: "65532:65532",
    WorkingDir: "/",
    ExposedPorts: { "8080/tcp": {} },
    Entrypoint: ["/sample", component],
    Env: [`SAMPLE_COMMIT=${commit}`],
  };
  return { reference: `${image}:${commit}`, layers: [root], config };
}

async function imageSpecs(site: ClusterSite): Promise<ImageSpec[]> {
  const pause = await layer(site.built.pause, join(site.folder, "layers"));
  const pauseSpec = { reference: pauseImage, layers: [pause], config: { User: "65532:65532", Entrypoint: ["/pause"] } };
  // The shop's repositories begin as copies of these.
  const samples = await sampleImages(site, (name, repository) => [sampleImage(repository), shopImage(name)]);
  return [pauseSpec, await seedSpec(site), ...samples];
}

/** The image of the seeds that databases can begin with, under /seed: files alone, without a program. */
const SEED_IMAGE = "docker.io/local/seed:1";
const seedFolder = join(import.meta.dirname, "../seed");

async function seedSpec(site: ClusterSite): Promise<ImageSpec> {
  const root = join(site.folder, "layers/seed");
  await cp(seedFolder, join(root, "seed"), { recursive: true });
  await chmod(root, 0o755);
  return { reference: SEED_IMAGE, layers: [root], config: {} };
}

interface SampleSources extends Pick<ClusterSite, "folder" | "repositories"> {
  readonly built: Pick<ClusterSite["built"], "sample" | "sampleCart">;
}

/** The images of the first commits of the sample, once for each name of a component's image. */
export async function sampleImages(
  { folder, built, repositories }: SampleSources,
  namesOf: (component: SampleComponent, repository: string) => readonly string[],
): Promise<ImageSpec[]> {
  const layers = join(folder, "layers");
  const [main, cart] = await Promise.all([layer(built.sample, layers), layer(built.sampleCart, layers)]);
  const component = (name: SampleComponent): ImageSpec[] => {
    const { name: repository, commit, cartCommit } = repositories[name];
    return namesOf(name, repository).flatMap((image) => [
      componentImage(name, { image, commit, layer: main }),
      componentImage(name, { image, commit: cartCommit, layer: cart }),
    ]);
  };
  return [...component("backend"), ...component("frontend")];
}

/** A root folder with only the component's static program. */
async function layer({ programs }: BuiltModule, parent: string): Promise<string> {
  const root = join(parent, programs.replaceAll("/", "-"));
  await mkdir(parent, { recursive: true });
  await cp(programs, root, { recursive: true });
  await chmod(root, 0o755);
  return root;
}
