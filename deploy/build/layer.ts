import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { PassThrough, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

/** A layer of an image as a file: https://github.com/opencontainers/image-spec/blob/main/layer.md */
export interface Layer {
  readonly file: string;
  readonly mediaType: string;
  /** `sha256:…` of the file. */
  readonly digest: string;
  /** `sha256:…` of the uncompressed tar archive. */
  readonly diffId: string;
  readonly size: number;
}

const TAR = "application/vnd.oci.image.layer.v1.tar";
/** Sorted by bytes, without times and owners, with modes independent of the umask. */
const REPRODUCIBLE = [
  "--sort=name",
  "--mtime=@0",
  "--owner=0",
  "--group=0",
  "--numeric-owner",
  "--format=ustar",
  "--mode=u=rwX,go=rX",
];

/**
 * Writes a root folder as a layer. The same folder gives the same bytes; compressed ones only with the same Node.
 *
 * Fails when tar does.
 */
export async function writeLayer(folder: string, file: string, { gzip }: { gzip: boolean }): Promise<Layer> {
  const packed = packFolder(folder);
  const plain = digesting();
  const stored = digesting();
  const compressed = gzip ? createGzip() : new PassThrough();
  await Promise.all([
    pipeline(packed.stdout, plain.stream, compressed, stored.stream, createWriteStream(file)),
    packed.ended,
  ]);
  const mediaType = gzip ? `${TAR}+gzip` : TAR;
  return { file, mediaType, digest: stored.digest(), diffId: plain.digest(), size: stored.bytes() };
}

/** Packs the folder's entries, named without a leading `./`, into the file. The same entries give the same bytes. */
export async function packTo(file: string, folder: string): Promise<void> {
  const packed = packFolder(folder);
  await Promise.all([pipeline(packed.stdout, createWriteStream(file)), packed.ended]);
}

function packFolder(folder: string): { readonly stdout: Readable; readonly ended: Promise<void> } {
  const args = [...REPRODUCIBLE, "--transform=s,^\\./,,", "-cf", "-", "-C", folder, "."];
  const child = spawn("tar", args, { stdio: ["ignore", "pipe", "pipe"] });
  const exit = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("exit", resolve));
  const ended = Promise.all([exit, text(child.stderr)]).then(([code, words]) => {
    if (code !== 0) throw new Error(`tar of ${folder} failed: ${words.trim().slice(-2000)}`);
  });
  return { stdout: child.stdout, ended };
}

function digesting() {
  const hash = createHash("sha256");
  let bytes = 0;
  const stream = new PassThrough();
  stream.on("data", (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
  });
  return { stream, digest: () => `sha256:${hash.digest("hex")}`, bytes: () => bytes };
}
