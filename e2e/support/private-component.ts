import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./command.ts";
import { administrator } from "./gitea.ts";
import { stateFolder } from "./site.ts";

const DEADLINE_MS = 30_000;
const JSON_TYPE = "application/json";
const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";

/** A repository of Gitea and an image in its registry, both readable only with a token. */
export interface PrivateComponent {
  readonly cloneUrl: string;
  /** Without a tag; the tag is the commit. */
  readonly image: string;
  /** The head of `main`. */
  readonly commit: string;
  /** `user:token`, for reading both. */
  readonly credential: string;
  /** The status that the registry answers to a request for the image without a token. */
  anonymously(): Promise<number>;
}

/** Makes an organization of that name with the repository and the image `sample`, which is the sample's backend. */
export async function makePrivateComponent(origin: string, name: string): Promise<PrivateComponent> {
  const { name: user } = await administrator();
  const api = `${origin}/api/v1`;
  await send("POST", `${api}/orgs`, { username: name, visibility: "private" });
  const repository = { name: "sample", private: true, auto_init: true, default_branch: "main" };
  await send("POST", `${api}/orgs/${name}/repos`, repository);
  const branch = await send("GET", `${api}/repos/${name}/sample/branches/main`);
  const { id: commit } = ((await branch.json()) as { commit: { id: string } }).commit;
  const wish = { name, scopes: ["read:repository", "read:package"] };
  const token = (await (await send("POST", `${api}/users/${user}/tokens`, wish)).json()) as { sha1: string };
  const registry = `${origin}/v2/${name}/sample`;
  await pushImage(registry, commit);
  return {
    cloneUrl: `${origin}/${name}/sample.git`,
    image: `${new URL(origin).host}/${name}/sample`,
    commit,
    credential: `${user}:${token.sha1}`,
    anonymously: async () => (await fetch(`${registry}/manifests/${commit}`, { signal: deadline() })).status,
  };
}

/** Takes away what is there of it, also when making it failed half-way. */
export async function removePrivateComponent(origin: string, name: string): Promise<void> {
  const { name: user } = await administrator();
  const api = `${origin}/api/v1`;
  // An organization that still has a package or a repository can't go.
  const made = [`packages/${name}/container/sample`, `repos/${name}/sample`, `orgs/${name}`];
  for (const path of [...made, `users/${user}/tokens/${name}`]) await remove(`${api}/${path}`);
}

/** https://github.com/opencontainers/distribution-spec/blob/main/spec.md#push */
async function pushImage(registry: string, tag: string): Promise<void> {
  const layer = await sampleLayer();
  const config = Buffer.from(
    JSON.stringify({
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      os: "linux",
      config: { User: "65532:65532", WorkingDir: "/", Entrypoint: ["/sample", "backend"] },
      rootfs: { type: "layers", diff_ids: [digest(layer)] },
    }),
  );
  for (const blob of [layer, config]) await send("POST", `${registry}/blobs/uploads/?digest=${digest(blob)}`, blob);
  const part = (mediaType: string, blob: Buffer) => ({ mediaType, digest: digest(blob), size: blob.length });
  const manifest = {
    ...{ schemaVersion: 2, mediaType: MANIFEST_TYPE },
    config: part("application/vnd.oci.image.config.v1+json", config),
    layers: [part("application/vnd.oci.image.layer.v1.tar", layer)],
  };
  await send("PUT", `${registry}/manifests/${tag}`, Buffer.from(JSON.stringify(manifest)), MANIFEST_TYPE);
}

/** The folder that the local cluster packs the sample's image from, as a layer. */
async function sampleLayer(): Promise<Buffer> {
  const layers = join(stateFolder, "cluster/layers");
  const sample = (await readdir(layers)).find((folder) => folder.includes("-sample-"));
  if (sample === undefined) throw new Error(`no layer of the sample is in ${layers}`);
  const folder = await mkdtemp(join(tmpdir(), "e2e-layer-"));
  try {
    const target = join(folder, "layer.tar");
    const args = ["--mode=a+rX", "-cf", target, "-C", join(layers, sample), "."];
    const { code, stderr } = await run("tar", { args, deadlineMs: DEADLINE_MS });
    if (code !== 0) throw new Error(`tar ended with ${code}: ${stderr}`);
    return await readFile(target);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const digest = (content: Buffer) => `sha256:${createHash("sha256").update(content).digest("hex")}`;
const deadline = () => AbortSignal.timeout(DEADLINE_MS);

/** Deletes it if it is there. */
async function remove(url: string): Promise<void> {
  const reply = await ask("DELETE", url);
  if (reply.status !== 404) await accepted("DELETE", reply);
}

/** Fails with the host's own words. */
async function send(method: string, url: string, content?: object | Buffer, type?: string): Promise<Response> {
  return accepted(method, await ask(method, url, content, type));
}

async function accepted(method: string, reply: Response): Promise<Response> {
  if (!reply.ok) throw new Error(`${method} ${reply.url} was answered ${reply.status}: ${await reply.text()}`);
  return reply;
}

/** As the git host's administrator. */
async function ask(method: string, url: string, content?: object | Buffer, type?: string): Promise<Response> {
  const { name, password } = await administrator();
  const isBytes = Buffer.isBuffer(content);
  return fetch(url, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`,
      "content-type": type ?? (isBytes ? "application/octet-stream" : JSON_TYPE),
    },
    ...(content && { body: isBytes ? new Uint8Array(content) : JSON.stringify(content) }),
    signal: deadline(),
  });
}
