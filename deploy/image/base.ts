import { hash } from "node:crypto";
import { chmod, glob, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { control, type DebianPackage, debianPackage, unpack } from "./debian.ts";
import type { Pins } from "./pins.ts";

const nodePackage = join(import.meta.dirname, "../../node_modules/node");

/** Node's program as installed by npm. */
export const nodeProgram = join(nodePackage, "bin/node");

/** User and group of the process. They own no file of the image. */
export const USER = 65532;

/** Paths of Node, and of the authorities trusted besides those of a Kubernetes cluster. */
export const paths = { node: "/usr/bin/node", certificates: "/etc/ssl/certs/ca-certificates.crt" } as const;

const LIBRARIES = ["libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0", "libstdc++.so.6"];
/** The folder of libraries and the loader's path, by Node's name of the processor. */
const LINKING: Readonly<Record<string, { readonly folder: string; readonly loader: string }>> = {
  x64: { folder: "x86_64-linux-gnu", loader: "lib64/ld-linux-x86-64.so.2" },
  arm64: { folder: "aarch64-linux-gnu", loader: "lib/ld-linux-aarch64.so.1" },
};

/** Empty folders: mount points of the runtime, and the only one that may be made writable. */
const MOUNT_POINTS = ["dev", "proc", "sys", "tmp"];

/**
 * Lays out the image's lowest layer: Node, its libraries, certificate authorities, two users. No shell, and nothing else
 * executable. `work` is scratch space.
 */
export async function layOutBase(root: string, pins: Pins, work: string): Promise<void> {
  for (const folder of [...MOUNT_POINTS, "etc", "usr/bin"]) await mkdir(join(root, folder), { recursive: true });
  await addNode(root, pins.node);
  const unpacked = join(work, "packages");
  for (const each of pins.packages) await addPackage(root, each, unpacked);
  await addLibraries(root, unpacked);
  await addCertificates(root, unpacked);
  await addAccounts(root, pins.debian);
  await rm(unpacked, { recursive: true });
}

async function addNode(root: string, { version, sha256 }: Pins["node"]): Promise<void> {
  const program = await readFile(nodeProgram);
  const found = hash("sha256", program);
  if (found !== sha256) throw new Error(`Node ${version} of npm is not what is pinned: its SHA-256 is ${found}`);
  await put(root, paths.node, program);
  await chmod(join(root, paths.node), 0o755);
  const [licence = ""] = await Array.fromAsync(glob("node_modules/node-*/LICENSE", { cwd: nodePackage }));
  await put(root, "usr/share/doc/node/copyright", await readFile(join(nodePackage, licence)));
}

/** Unpacks a package, and keeps in the image its records for scanners and licence checks. */
async function addPackage(root: string, pinned: DebianPackage, unpacked: string): Promise<void> {
  const file = await debianPackage(pinned);
  await unpack(file, unpacked);
  await put(root, `var/lib/dpkg/status.d/${pinned.name}`, await control(file));
  const copyright = await realpath(join(unpacked, "usr/share/doc", pinned.name, "copyright"));
  await put(root, `usr/share/doc/${pinned.name}/copyright`, await readFile(copyright));
}

async function addLibraries(root: string, unpacked: string): Promise<void> {
  const linking = LINKING[process.arch];
  if (!linking) throw new Error(`It is not known how Node is linked on ${process.arch}.`);
  // The folder depends on Debian's release; the loader finds both.
  const find = async (name: string): Promise<string> => {
    const [found] = await Array.fromAsync(glob(`{,usr/}lib/${linking.folder}/${name}`, { cwd: unpacked }));
    if (!found) throw new Error(`No package of the image has ${name}.`);
    return realpath(join(unpacked, found));
  };
  const copies = LIBRARIES.map((name) => [name, `usr/lib/${linking.folder}/${name}`] as const);
  for (const [name, path] of [...copies, [basename(linking.loader), linking.loader] as const]) {
    await put(root, path, await readFile(await find(name)));
    await chmod(join(root, path), 0o755);
  }
}

/** Mozilla's authorities in one file, as Debian's installation script writes it. */
async function addCertificates(root: string, unpacked: string): Promise<void> {
  const folder = join(unpacked, "usr/share/ca-certificates");
  const names = await Array.fromAsync(glob("**/*.crt", { cwd: folder }));
  const certificates = await Promise.all(names.sort().map((name) => readFile(join(folder, name), "utf8")));
  await put(root, paths.certificates, certificates.map((text) => `${text.trim()}\n`).join(""));
}

async function addAccounts(root: string, debian: string): Promise<void> {
  const nobodysShell = "/sbin/nologin";
  await put(root, "etc/passwd", `root:x:0:0::/:${nobodysShell}\nnonroot:x:${USER}:${USER}::/:${nobodysShell}\n`);
  await put(root, "etc/group", `root:x:0:\nnonroot:x:${USER}:\n`);
  await put(root, "etc/nsswitch.conf", "hosts: files dns\n");
  await put(root, "etc/os-release", `ID=debian\nVERSION_ID="${debian}"\nPRETTY_NAME="Debian GNU/Linux ${debian}"\n`);
}

async function put(root: string, path: string, content: string | Buffer): Promise<void> {
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}
