import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../command.ts";
import { stateFolder } from "../site.ts";
import { send } from "./gitea.ts";

const DEADLINE_MS = 30_000;
const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";

/** An image of one layer. */
export interface PushedImage {
  readonly root: string;
  /** The image's configuration. https://github.com/opencontainers/image-spec/blob/main/config.md */
  readonly config: object;
}

/** Pushes the sample's backend as an image that answers with this commit; default tag: the commit. */
export async function pushImage(registry: string, tag: string, commit = tag): Promise<void> {
  const config = {
    User: "65532:65532",
    WorkingDir: "/",
    Entrypoint: ["/sample", "backend"],
    Env: [`SAMPLE_COMMIT=${commit}`],
  };
  await pushImageOf(registry, tag, { root: await sampleRoot(), config });
}

/**
 * Pushes an image to a repository of a registry. https://github.com/opencontainers/distribution-spec/blob/main/spec.md#push
 */
export async function pushImageOf(registry: string, tag: string, { root, config }: PushedImage): Promise<void> {
  const layer = await layerOf(root);
  const described = Buffer.from(
    JSON.stringify({
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      os: "linux",
      config,
      rootfs: { type: "layers", diff_ids: [digest(layer)] },
    }),
  );
  for (const blob of [layer, described]) await send("POST", `${registry}/blobs/uploads/?digest=${digest(blob)}`, blob);
  const part = (mediaType: string, blob: Buffer) => ({ mediaType, digest: digest(blob), size: blob.length });
  const manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: part("application/vnd.oci.image.config.v1+json", described),
    layers: [part("application/vnd.oci.image.layer.v1.tar", layer)],
  };
  await send("PUT", `${registry}/manifests/${tag}`, Buffer.from(JSON.stringify(manifest)), MANIFEST_TYPE);
}

async function sampleRoot(): Promise<string> {
  const layers = join(stateFolder, "cluster/layers");
  const sample = (await readdir(layers)).find((folder) => folder.includes("-sample-"));
  if (sample === undefined) throw new Error(`no layer of the sample is in ${layers}`);
  return join(layers, sample);
}

async function layerOf(root: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "e2e-layer-"));
  try {
    const target = join(folder, "layer.tar");
    const args = ["--mode=a+rX", "-cf", target, "-C", root, "."];
    const { code, stderr } = await run("tar", { args, deadlineMs: DEADLINE_MS });
    if (code !== 0) throw new Error(`tar ended with ${code}: ${stderr}`);
    return await readFile(target);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const digest = (content: Buffer) => `sha256:${createHash("sha256").update(content).digest("hex")}`;
