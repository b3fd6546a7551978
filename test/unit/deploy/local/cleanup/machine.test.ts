import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { isSameFolder } from "../../../../../deploy/local/cleanup/machine.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "machine-"));
  await mkdir(join(folder, "one"));
  await mkdir(join(folder, "other"));
  // As a second mount of the folder.
  await symlink(join(folder, "one"), join(folder, "second"));
});
afterEach(() => rm(folder, { recursive: true }));

test.each([
  { one: "one", other: "second", same: true },
  { one: "gone", other: "gone", same: true },
  { one: "one", other: "other", same: false },
  { one: "one", other: "gone", same: false },
  { one: "gone", other: "gone too", same: false },
])("the folders $one and $other are the same: $same", async ({ one, other, same }) => {
  expect(await isSameFolder(join(folder, one), join(folder, other))).toBe(same);
});
