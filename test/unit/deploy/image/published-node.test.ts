import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { run } from "../../../../deploy/build/run.ts";
import { type Pins, pinsFile } from "../../../../deploy/image/pins.ts";
import { programOf } from "../../../../deploy/image/published-node.ts";

let folder: string;
let file: string;
let integrity: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "node-"));
  await mkdir(join(folder, "package/bin"), { recursive: true });
  await writeFile(join(folder, "package/bin/node"), "the program");
  file = join(folder, "node.tgz");
  await run("tar", ["-czf", file, "-C", folder, "package"]);
  integrity = `sha512-${createHash("sha512")
    .update(await readFile(file))
    .digest("base64")}`;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the program of a package is read where the package is the published one", async () => {
  const sha256 = createHash("sha256").update("the program").digest("hex");
  expect(await programOf(file, integrity)).toBe(sha256);
});

test.each([
  ["of another content", `sha512-${Buffer.alloc(64).toString("base64")}`],
  ["without an integrity", ""],
  ["with a weak one", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="],
])("abuse case 124: a package %s is refused", async (_case, published) => {
  await expect(programOf(file, published)).rejects.toThrow("is not what npm publishes");
});

test("the pins name the package that Node came in, by its integrity", async () => {
  const pins = JSON.parse(await readFile(pinsFile, "utf8")) as Record<string, Pins>;
  expect(Object.keys(pins)).not.toEqual([]);
  for (const { node } of Object.values(pins)) {
    expect(node).toMatchObject({ package: expect.stringMatching(/^node-linux-\w+$/) });
    expect(node.integrity).toMatch(/^sha512-[\w+/]{86}==$/);
  }
});
