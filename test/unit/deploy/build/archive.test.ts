import { chmod, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { machineArchitecture, packImages, writeArchive } from "../../../../deploy/build/archive.ts";
import { writeLayer } from "../../../../deploy/build/layer.ts";
import { entriesOf, readImages } from "../../../support/image/image-layout.ts";

const reference = "docker.io/local/app:1";

describe("packing images", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "pack-"));
    await mkdir(join(folder, "root"));
    await writeFile(join(folder, "root/program"), "content");
    await chmod(join(folder, "root/program"), 0o755);
  });

  afterEach(() => rm(folder, { recursive: true }));

  async function pack(name: string, gzip = true): Promise<string> {
    const layer = await writeLayer(join(folder, "root"), join(folder, `${name}.layer`), { gzip });
    await writeArchive([{ reference, layers: [layer], config: { User: "65532" } }], join(folder, name));
    return join(folder, name);
  }

  test.each([true, false])(
    "writes an image layout that the specification's reader accepts (compressed: %s)",
    async (gzip) => {
      const [image, ...more] = await readImages(await pack("image.tar", gzip), folder);
      expect(more).toEqual([]);
      expect(image?.descriptor).toMatchObject({
        platform: { os: "linux", architecture: machineArchitecture() },
        annotations: { "io.containerd.image.name": reference, "org.opencontainers.image.ref.name": "1" },
      });
      expect(image?.config).toMatchObject({ os: "linux", config: { User: "65532" } });
      expect(image?.layers).toHaveLength(1);
    },
  );

  test("answers the digest that the archive names", async () => {
    const layer = await writeLayer(join(folder, "root"), join(folder, "layer"), { gzip: true });
    const target = join(folder, "image.tar");
    const digests = await writeArchive([{ reference, layers: [layer], config: {} }], target);
    expect((await readImages(target, folder)).map(({ descriptor }) => descriptor.digest)).toEqual(digests);
  });

  test("gives the same archive for the same files, whenever they were written", async () => {
    const first = await readFile(await pack("first.tar"));
    await utimes(join(folder, "root/program"), 1, 1);
    expect((await readFile(await pack("second.tar"))).equals(first)).toBe(true);
  });

  test("gives the same archive whatever the umask of the build, and another one for other contents", async () => {
    await chmod(join(folder, "root/program"), 0o700);
    const first = await readFile(await pack("first.tar"));
    await chmod(join(folder, "root/program"), 0o777);
    expect((await readFile(await pack("second.tar"))).equals(first)).toBe(true);
    await writeFile(join(folder, "root/program"), "another");
    expect((await readFile(await pack("third.tar"))).equals(first)).toBe(false);
  });

  test("keeps that a file can be executed, and neither owner nor time", async () => {
    const [image] = await readImages(await pack("image.tar"), folder);
    const entries = await entriesOf(image?.layers[0] ?? Buffer.alloc(0), folder);
    expect(entries).toContainEqual(expect.stringMatching(/^-rwxr-xr-x 0\/0 +7 1970-01-01 00:00 program$/));
  });

  test("packs several images into one archive, and a layer that they share once", async () => {
    const images = ["one", "two"].map((name) => ({
      reference: `docker.io/local/${name}:1`,
      layers: [join(folder, "root")],
      config: { Cmd: [name] },
    }));
    await packImages(images, join(folder, "images.tar"));
    const read = await readImages(join(folder, "images.tar"), folder);
    expect(read.map(({ config }) => config.config)).toEqual([{ Cmd: ["one"] }, { Cmd: ["two"] }]);
    expect(read[0]?.layers[0]?.equals(read[1]?.layers[0] ?? Buffer.alloc(0))).toBe(true);
  });

  test("fails, and leaves no archive, where a layer's folder is missing", async () => {
    await expect(writeLayer(join(folder, "none"), join(folder, "layer"), { gzip: true })).rejects.toThrow(
      /tar of .*none/,
    );
  });
});
