import { once } from "node:events";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { isAnswered, isResultOfPodNetwork, linksBelow } from "../../../../../deploy/local/cleanup/fixed-paths.ts";

describe("files that programs write at fixed paths", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "fixed-paths-"));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("are ours when a link points below our folder, whether its target exists or not", async () => {
    await symlink("/ours/cluster/pod-logs/0.log", join(folder, "ours.log"));
    await symlink("/ours/cluster-of-others/0.log", join(folder, "neighbour.log"));
    await symlink("/var/log/pods/0.log", join(folder, "foreign.log"));
    await writeFile(join(folder, "file.log"), "/ours/cluster/");
    expect(await linksBelow(folder, ["/ours/cluster"])).toEqual([join(folder, "ours.log")]);
  });

  test("are none where there is no folder", async () => {
    expect(await linksBelow(join(folder, "missing"), ["/"])).toEqual([]);
  });

  test.each([
    { name: "ephemeral-environments-0f60ced2-eth0", expected: true },
    { name: "cni-loopback-0f60ced2-lo", expected: false },
    { name: "pods-0f60ced2-eth0", expected: false },
  ])("is recognised by the network's name: $name", ({ name, expected }) => {
    expect(isResultOfPodNetwork(name)).toBe(expected);
  });

  test("include a socket that answers only while a program listens", async () => {
    const path = join(folder, "kubelet.sock");
    expect(await isAnswered(path)).toBe(false);
    const server = createServer().listen(path);
    await once(server, "listening");
    expect(await isAnswered(path)).toBe(true);
    server.close();
    await once(server, "close");
    expect(await isAnswered(path)).toBe(false);
  });
});
