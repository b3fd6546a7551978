import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { glob, mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cacheRoot } from "../../../../deploy/build/folders.ts";
import { type BuiltImage, buildImage, config } from "../../../../deploy/image/image.ts";
import { whyNoImage } from "../../../../deploy/image/pins.ts";
import packageJson from "../../../../package.json" with { type: "json" };
import { entriesOf, extractRoot, type ReadImage, readImages } from "../../../support/image/image-layout.ts";

const execute = promisify(execFile);
const checkout = resolve(import.meta.dirname, "../../../..");

const obstacle = await whyNoImage();
if (obstacle !== undefined) console.log(`The image is not tested. ${obstacle}`);
const describeImage = obstacle === undefined ? describe : describe.skip;

describeImage("the platform's image", () => {
  let folder: string;
  let image: BuiltImage;
  let read: ReadImage;
  let root: string;
  let entries: readonly string[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "platform-image-"));
    image = await buildImage(join(folder, "one"));
    [read] = (await readImages(image.archive, folder)) as [ReadImage];
    root = join(folder, "root");
    await extractRoot(read, root);
    entries = (await Promise.all(read.layers.map((layer) => entriesOf(layer, folder)))).flat();
  }, 180_000);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("has the same digest when another user builds the same commit from nothing", async () => {
    const cache = join(folder, "cache");
    await mkdir(join(cache, "ephemeral-environments"), { recursive: true });
    // Only downloads are reused.
    await symlink(join(cacheRoot(), "debian"), join(cache, "ephemeral-environments/debian"));
    const build = `umask 077; exec '${process.execPath}' deploy/image/main.ts --folder '${join(folder, "other")}'`;
    const env = { ...process.env, XDG_CACHE_HOME: cache, LC_ALL: "C.UTF-8", TZ: "Asia/Tokyo" };
    const { stdout } = await execute("sh", ["-c", build], { cwd: checkout, env });
    expect(stdout).toContain(`digest   ${image.digest}\n`);
    const archive = join(folder, "other/image.tar");
    expect((await readFile(archive)).equals(await readFile(image.archive))).toBe(true);
  }, 180_000);

  test("is a valid image of three layers, called as it was said", () => {
    expect(read.descriptor.digest).toBe(image.digest);
    expect(read.descriptor.annotations).toMatchObject({ "io.containerd.image.name": image.reference });
    expect(read.layers).toHaveLength(3);
    expect(read.config.config).toEqual(config);
  });

  test("brings the web console and the command line, which it serves", () => {
    const files = entries.flatMap(
      (entry) => /(app\/clients\/.*(?:index\.html|\.css|eenv\.mjs))$/.exec(entry)?.[1] ?? [],
    );
    const assets = "app/clients/console/dist/assets";
    expect(files.toSorted()).toEqual([
      "app/clients/cli/dist/eenv.mjs",
      expect.stringMatching(new RegExp(`^${assets}/[\\w-]+\\.css$`)),
      "app/clients/console/dist/index.html",
    ]);
  });

  test("is what was laid out, file by file", async () => {
    await execute("diff", ["--recursive", "--brief", root, image.root]);
  });

  test("has no shell, and no program but Node and its loader where programs are", async () => {
    const programs = await Array.fromAsync(glob("{,usr/,usr/local/}{bin,sbin}/*", { cwd: root }));
    expect(programs).toEqual(["usr/bin/node"]);
    const shells = entries.filter((entry) => /[ /](sh|bash|dash|ash|busybox|toybox)$/.test(entry));
    expect(shells).toEqual([]);
  });

  test("belongs to root; no other user may write in it, and nothing changes its user", () => {
    expect(entries.filter((entry) => !/^\S+ 0\/0 /.test(entry))).toEqual([]);
    // Type, and three times read, write, execute; no set-uid, set-gid or sticky bit.
    expect(entries.filter((entry) => !/^[-dl]r[w-][x-]r-[x-]r-[x-] /.test(entry))).toEqual([]);
  });

  test("runs as a user that is not root, by number, and known by name", async () => {
    expect(read.config.config.User).toBe("65532:65532");
    expect(await readFile(join(root, "etc/passwd"), "utf8")).toMatch(/^nonroot:x:65532:65532:/m);
  });

  test("has the authorities of Debian, each of which can be read", async () => {
    const text = await readFile(join(root, "etc/ssl/certs/ca-certificates.crt"), "utf8");
    const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? [];
    expect(certificates.length).toBeGreaterThan(100);
    expect(certificates.join("")).toBe(text);
    expect(certificates.map((each) => new X509Certificate(each)).filter(({ ca }) => !ca)).toEqual([]);
  });

  test("has no dependency for development, no types, no source maps, and no source of ours but JavaScript", async () => {
    const { packages } = JSON.parse(await readFile(join(checkout, "package-lock.json"), "utf8"));
    const found = await Array.fromAsync(glob("app/**/node_modules/{[!@]*,@*/*}/package.json", { cwd: root }));
    const folders = found.map((file) => file.replace(/^app\//, "").replace(/\/package\.json$/, ""));
    expect(folders.length).toBeGreaterThan(200);
    const known = folders.filter((folder) => folder in packages);
    expect(known.filter((folder) => packages[folder].dev)).toEqual([]);
    expect(known).toEqual(
      expect.arrayContaining(Object.keys(packageJson.dependencies).map((name) => `node_modules/${name}`)),
    );
    expect(await Array.fromAsync(glob("app/**/*.{ts,mts,cts,map}", { cwd: root }))).toEqual([]);
    const { devDependencies, ...own } = JSON.parse(await readFile(join(root, "app/package.json"), "utf8"));
    expect([devDependencies, own.version]).toEqual([undefined, packageJson.version]);
  });

  test("says what it is made of where scanners and lawyers look", async () => {
    const pins = JSON.parse(await readFile(join(checkout, "deploy/image/pins.json"), "utf8"));
    for (const { name, version } of Object.values<{ packages: { name: string; version: string }[] }>(pins)[0]
      ?.packages ?? []) {
      expect(await readFile(join(root, "var/lib/dpkg/status.d", name), "utf8")).toContain(`Version: ${version}\n`);
      expect((await readFile(join(root, "usr/share/doc", name, "copyright"), "utf8")).length).toBeGreaterThan(500);
    }
    expect(await readFile(join(root, "etc/os-release"), "utf8")).toContain("ID=debian");
    expect(await readFile(join(root, "app/LICENSE"), "utf8")).toContain("Apache License");
  });

  test("is described alike by the Dockerfile", async () => {
    const lines = (await readFile(join(checkout, "deploy/image/Dockerfile"), "utf8")).split("\n");
    const said = (word: string) => lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1) ?? "";
    expect(said("FROM")).toBe("scratch");
    expect(JSON.parse(said("ENTRYPOINT"))).toEqual(config.Entrypoint);
    expect(JSON.parse(said("CMD"))).toEqual(config.Cmd);
    expect([said("USER"), said("WORKDIR")]).toEqual([config.User, config.WorkingDir]);
    expect(said("ENV").split(" ")).toEqual(config.Env);
    expect(
      said("EXPOSE")
        .split(" ")
        .map((port) => `${port}/tcp`),
    ).toEqual(Object.keys(config.ExposedPorts));
  });
});
