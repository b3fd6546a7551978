import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "@jest/globals";
import { whyNot } from "../../../deploy/local/prerequisites.ts";

const main = resolve(import.meta.dirname, "../../run.ts");

// Elsewhere no local cluster starts, so that none needs space.
const canHaveCluster = whyNot() === undefined;
(canHaveCluster ? test : test.skip)(
  "a whole run on a machine without room says so before it builds or runs anything",
  async () => {
    const state = await mkdtemp(join(tmpdir(), "whole-run-"));
    try {
      const { PATH, HOME } = process.env;
      // No byte is free there.
      const env = { PATH, HOME, STATE_FOLDER: state, XDG_CACHE_HOME: "/proc" };
      const child = spawn(process.execPath, [main], { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
      const late = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), 20_000);
      const ended = new Promise<number | null>((resolved) => child.once("close", resolved));
      const [said, , code] = await Promise.all([text(child.stderr), text(child.stdout), ended]);
      clearTimeout(late);
      expect(said).toMatch(
        /^Only 0\.0 GB are free at \/proc\S*, and the local cluster needs about \d+ GB there: [^\n]*\n$/,
      );
      expect(code).toBe(1);
      expect(await readdir(state)).toEqual([]);
    } finally {
      await rm(state, { recursive: true });
    }
  },
  30_000,
);
