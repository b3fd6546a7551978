import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { listeners, opener } from "../../../e2e/support/listeners.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "listeners-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("names the process that opened a socket, not the child processes that inherited it", async () => {
  const path = join(folder, "socket");
  const server = createServer().listen(path);
  await once(server, "listening");
  // Node has no public way to pass on a server's file descriptor.
  const { fd } = (server as unknown as { readonly _handle: { readonly fd: number } })._handle;
  const children = Array.from({ length: 3 }, () =>
    spawn("sleep", ["600"], { stdio: ["ignore", "ignore", "ignore", fd] }),
  );
  try {
    await Promise.all(children.map((child) => once(child, "spawn")));
    expect((await listeners()).filter(({ at }) => at === path)).toEqual([{ kind: "unix", at: path, pid: process.pid }]);
  } finally {
    await Promise.all(children.map((child) => child.kill() && once(child, "exit")));
    await new Promise((resolve) => server.close(resolve));
  }
});

test("takes no child that has ended since for the process that opened a socket", async () => {
  const child = spawn("true");
  await once(child, "exit");
  expect(await opener([Number(child.pid), process.pid])).toBe(process.pid);
});
