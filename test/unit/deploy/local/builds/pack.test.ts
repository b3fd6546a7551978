import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { packImages } from "../../../../../deploy/local/builds/pack.ts";

const execute = promisify(execFile);

describe("packing an image", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "pack-"));
    await mkdir(join(folder, "root"));
    await writeFile(join(folder, "root/program"), "content");
    await chmod(join(folder, "root/program"), 0o755);
  });

  afterEach(() => rm(folder, { recursive: true }));

  async function pack(name: string): Promise<string> {
    const image = { reference: "docker.io/local/app:1", layers: [join(folder, "root")], config: { User: "65532" } };
    await packImages([image], join(folder, name));
    return join(folder, name);
  }

  async function read(archive: string, path: string): Promise<string> {
    return (await execute("tar", ["-xOf", archive, path])).stdout;
  }

  test("names the image, its configuration and its layers", async () => {
    const archive = await pack("image.tar");
    const [image] = JSON.parse(await read(archive, "manifest.json"));
    expect(image.RepoTags).toEqual(["docker.io/local/app:1"]);
    const config = JSON.parse(await read(archive, image.Config));
    expect(config).toMatchObject({ os: "linux", config: { User: "65532" } });
    expect(image.Layers).toEqual(config.rootfs.diff_ids.map((id: string) => `${id.replace("sha256:", "")}.tar`));
  });

  test("gives the same archive for the same files, whenever they were written", async () => {
    const first = await readFile(await pack("first.tar"));
    await utimes(join(folder, "root/program"), 1, 1);
    expect((await readFile(await pack("second.tar"))).equals(first)).toBe(true);
  });

  test("keeps that a file can be executed, and no owner", async () => {
    const archive = await pack("image.tar");
    const [image] = JSON.parse(await read(archive, "manifest.json"));
    await execute("tar", ["-xf", archive, "-C", folder, image.Layers[0]]);
    const { stdout } = await execute("tar", ["-tvf", join(folder, image.Layers[0])]);
    expect(stdout).toMatch(/^-rwxr-xr-x 0\/0 .* program$/m);
  });
});
