import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { platformProcess } from "../../../support/plane/platform-process.ts";
import { programLog } from "../../../support/plane/program-log.ts";

const { PROGRAM_LOGS } = process.env;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "program-log-"));
  process.env.PROGRAM_LOGS = join(folder, "a stage");
});
afterEach(async () => {
  if (PROGRAM_LOGS === undefined) delete process.env.PROGRAM_LOGS;
  else process.env.PROGRAM_LOGS = PROGRAM_LOGS;
  await rm(folder, { recursive: true });
});

async function kept(): Promise<{ names: readonly string[]; text: string }> {
  const names = (await readdir(join(folder, "a stage"))).sort().reverse();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, "a stage", name), "utf8")));
  return { names, text: texts.join("") };
}

describe("the log of a program that a test starts", () => {
  test("has all that it wrote, and the name of the test file", async () => {
    const log = programLog("program");
    for (const text of ["one\n", "two\n"]) log(text);
    expect(await kept()).toEqual({ names: ["program-log-program.log"], text: "one\ntwo\n" });
  });

  test("keeps no more than it may, and always the end", async () => {
    const log = programLog("program", 100);
    for (let line = 100; line < 200; line++) log(`line ${line}\n`);
    const { text } = await kept();
    expect(text.length).toBeLessThanOrEqual(100);
    expect(text.length).toBeGreaterThanOrEqual(50);
    expect(text).toMatch(/line 198\nline 199\n$/);
  });

  test("is written nowhere where the run keeps none", async () => {
    delete process.env.PROGRAM_LOGS;
    programLog("program")("one\n");
    expect(await readdir(folder)).toEqual([]);
  });
});

test("the process of the platform leaves its output in the logs of the run, and how it ended", async () => {
  const platform = await platformProcess({ kubeconfigPath: join(folder, "absent") }, { baseDomain: 1 });
  try {
    await expect(platform.start()).rejects.toThrow("the process ended");
  } finally {
    await platform.stop();
  }
  expect((await kept()).text).toMatch(/baseDomain[\s\S]*ended with 2\n$/);
}, 60_000);
