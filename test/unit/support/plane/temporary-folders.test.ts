import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { clearAbandoned, markOwned, parentForSockets } from "../../../support/plane/temporary-folders.ts";

describe("temporary folders", () => {
  let parent: string;

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), "temporary-folders-"));
  });

  afterEach(() => rm(parent, { recursive: true }));

  async function folder(name: string, owner?: object): Promise<string> {
    await mkdir(join(parent, name));
    if (owner) await writeFile(join(parent, name, "owner.json"), JSON.stringify(owner));
    return join(parent, name);
  }

  test("are removed when their owner has ended, and kept while it lives or has just made them", async () => {
    await markOwned(await folder("plane-alive"));
    await folder("plane-dead", { pid: process.pid, startedAt: "1" });
    await folder("plane-new");
    const old = await folder("plane-never-marked");
    await utimes(old, 0, 0);
    await folder("other-dead", { pid: process.pid, startedAt: "1" });
    await clearAbandoned("plane-", parent);
    expect((await readdir(parent)).sort()).toEqual(["other-dead", "plane-alive", "plane-new"]);
  });

  test("are kept by a check at the moment at which they are marked", async () => {
    const made = await folder("plane-marked");
    for (let round = 0; round < 100; round += 1) {
      await Promise.all([markOwned(made), ...Array.from({ length: 5 }, () => clearAbandoned("plane-", parent))]);
    }
    expect(await readdir(parent)).toEqual(["plane-marked"]);
  });

  test.each([
    ["the usual parent", 107 - "/plane-XXXXXX/".length - 16, undefined],
    ["/tmp, where the path would be too long for them", 108 - "/plane-XXXXXX/".length - 16, "/tmp"],
  ])("are made for sockets in %s", (_, bytes, expected) => {
    // Two bytes each, after the first.
    const usual = `/${bytes % 2 === 1 ? "" : "a"}${"é".repeat(Math.floor((bytes - 1) / 2))}`;
    expect(Buffer.byteLength(usual)).toBe(bytes);
    expect(parentForSockets("plane-", usual)).toBe(expected ?? usual);
  });
});
