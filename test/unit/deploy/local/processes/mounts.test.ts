import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { run } from "../../../../../deploy/build/run.ts";
import { currentMounts, isMounted, mountOnce, mountsIn } from "../../../../../deploy/local/processes/mounts.ts";

test("a path is read without the escapes of blanks, line ends and backslashes", () => {
  const text = "proc /proc proc rw 0 0\ntmpfs /a\\040checkout\\011of\\012four\\134lines tmpfs rw 0 0\n";
  expect(mountsIn(text)).toEqual([
    { point: "/proc", type: "proc" },
    { point: "/a checkout\tof\nfour\\lines", type: "tmpfs" },
  ]);
});

const isRoot = process.platform === "linux" && process.getuid?.() === 0;
(isRoot ? test : test.skip)("a folder is mounted once, with a blank in the path as well", async () => {
  const folder = await mkdtemp(join(tmpdir(), "mounts of a test "));
  const [source, target] = [join(folder, "source"), join(folder, "target")];
  await mkdir(source);
  try {
    for (let time = 0; time < 2; time++) await mountOnce(source, target);
    const points = (await currentMounts()).map(({ point }) => point).filter((point) => point === target);
    expect(points).toEqual([target]);
  } finally {
    while (await isMounted(target)) await run("umount", [target]);
    await rm(folder, { recursive: true });
  }
});
