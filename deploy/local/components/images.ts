import { chmod, cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BuiltModule } from "../builds/build.ts";
import { type ImageSpec, packImages } from "../builds/pack.ts";
import { postgresqlImage } from "../builds/postgresql.ts";
import type { ClusterSite } from "../site.ts";
import type { Component } from "./component.ts";
import { containerd, pauseImage } from "./container-runtime.ts";

/** The images that pods are made of, packed from the built programs and put into containerd. */
export const imagesComponent: Component = {
  name: "images",
  after: ["containerd"],
  async start(site) {
    const images = await imageSpecs(site);
    const present = (await containerd(site, "images", "ls", "--quiet")).split("\n");
    if (!present.includes(`${postgresqlImage.repository}:${postgresqlImage.tag}`)) {
      await containerd(site, "images", "import", site.built.postgresqlArchive);
    }
    if (images.every(({ reference }) => present.includes(reference))) return;
    const archive = join(site.folder, "images.tar");
    await packImages(images, archive);
    await containerd(site, "images", "import", archive);
    await rm(archive);
  },
};

/** The reference of the sample application's image: a component's image is named by its repository and commit. */
export function sampleImage({ name, commit }: { readonly name: string; readonly commit: string }): string {
  return `docker.io/local/${name}:${commit}`;
}

async function imageSpecs({ folder, built, repositories }: ClusterSite): Promise<ImageSpec[]> {
  const layers = join(folder, "layers");
  const [pause, main, cart] = await Promise.all([
    layer(built.pause, layers),
    layer(built.sample, layers),
    layer(built.sampleCart, layers),
  ]);
  const unprivileged = { User: "65532:65532", WorkingDir: "/", ExposedPorts: { "8080/tcp": {} } };
  const component = (name: "backend" | "frontend"): ImageSpec[] => {
    const { name: repository, commit, cartCommit } = repositories[name];
    const config = { ...unprivileged, Entrypoint: ["/sample", name] };
    return [
      { reference: sampleImage({ name: repository, commit }), layers: [main], config },
      { reference: sampleImage({ name: repository, commit: cartCommit }), layers: [cart], config },
    ];
  };
  const pauseSpec = { reference: pauseImage, layers: [pause], config: { User: "65532:65532", Entrypoint: ["/pause"] } };
  return [pauseSpec, ...component("backend"), ...component("frontend")];
}

/** A root folder that holds a component's static program and nothing else. */
async function layer({ programs }: BuiltModule, parent: string): Promise<string> {
  const root = join(parent, programs.replaceAll("/", "-"));
  await mkdir(parent, { recursive: true });
  await cp(programs, root, { recursive: true });
  await chmod(root, 0o755);
  return root;
}
