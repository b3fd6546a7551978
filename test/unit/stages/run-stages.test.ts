import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";

const checkout = resolve(import.meta.dirname, "../../..");
const moduleOf = (path: string) => JSON.stringify(pathToFileURL(join(checkout, path)).href);

/** Test files of the stages below. The unsteady one fails only until it has left a mark. */
const TESTS = {
  "fails.test.ts": `
    import { expect, test } from "@jest/globals";
    test("one and one make two", () => expect(1 + 1).toBe(2));
    test("one and one make three", () => expect(1 + 1).toBe(3));
  `,
  "fine.test.ts": `
    import { expect, test } from "@jest/globals";
    test("passes", () => expect(1).toBe(1));
  `,
  "unloaded.test.ts": `throw new Error("this suite does not load");`,
  "unsteady.test.ts": `
    import { existsSync, writeFileSync } from "node:fs";
    import { expect, test } from "@jest/globals";
    test("passes the second time", () => {
      const mark = new URL("mark", import.meta.url);
      const isSecond = existsSync(mark);
      writeFileSync(mark, "");
      expect(isSecond).toBe(true);
    });
  `,
};

const STAGES = `
  import { jest } from ${moduleOf("test/stages/jest.ts")};
  const config = ${JSON.stringify("CONFIG")};
  const file = (name) => ({ config, flags: ["--testPathPatterns", name] });
  const known = {
    failing: () => jest(["failing"], 1, file("fails")),
    unloaded: () => jest(["unloaded"], 1, file("unloaded")),
    unsteady: async (_names, { files, others }) => {
      // Also of a stage in view, and of its second run: what waits for the end of the others must not wait for ever.
      await others;
      return [
        ...(await jest(["unsteady"], 1, files === undefined ? file("unsteady") : { config, files })),
        ...(await jest(["elsewhere"], 1, files === undefined ? file("fine") : { config, files })),
      ];
    },
    crashing: async () => { throw new Error("the stage has no world"); },
    killed: async () => { console.log("about to be killed"); process.kill(process.pid, "SIGKILL"); await new Promise(() => {}); },
    quoting: async () => { console.log("said by no test"); return [{ stage: "quoting", passed: 0, skipped: 0, failures: [
      { title: "quotes", message: "The program failed. Its output ends:" }] }]; },
    causeless: async () => { console.log("said by the program"); return [{ stage: "causeless", passed: 0, skipped: 0, failures: [
      { message: "The program failed.", causeInOutput: true }] }]; },
    many: async () => [{ stage: "many", passed: 0, skipped: 0, failures: Array.from({ length: 100 }, (_, index) => ({
      title: \`test number \${index}\`, message: "first line\\nsecond line\\nthird line" })) }],
    strewn: async () => Array.from({ length: 6 }, (_, index) => (
      { stage: "strewn", file: \`strewn/\${index}\`, passed: 0, skipped: 0, failures: [{ title: "fails", message: "so" }] })),
  };
  export default Object.entries(known).map(([name, run]) => ({ names: [name], run, runsAgain: name === "unsteady" || name === "strewn" }));
`;

const MAIN = `
  import { runStages } from ${moduleOf("test/stages/run-stages.ts")};
  const list = new URL("stages.ts", import.meta.url).href;
  const passed = await runStages({ list, requested: process.argv.slice(2), logsFolder: new URL("logs", import.meta.url).pathname });
  process.exitCode = passed ? 0 : 1;
`;

describe("a run of stages", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "stages-"));
    await symlink(join(checkout, "node_modules"), join(folder, "node_modules"));
    const config = join(folder, "jest.config.json");
    const projects = ["failing", "unloaded", "unsteady", "elsewhere"].map((displayName) => ({
      displayName,
      rootDir: folder,
      transform: {},
      testRunner: join(checkout, "test/runner/native.ts"),
      testMatch: [join(folder, displayName === "elsewhere" ? "fine.test.ts" : "*.test.ts")],
    }));
    const files = { ...TESTS, "stages.ts": STAGES.replace("CONFIG", config), "main.ts": MAIN };
    for (const [name, source] of Object.entries(files)) await writeFile(join(folder, name), source);
    await writeFile(config, JSON.stringify({ projects }));
  });
  afterAll(() => rm(folder, { recursive: true }));

  let lines: string[];
  let code: number;
  /** The lines from the one with this beginning. */
  const from = (beginning: string) => lines.slice(lines.findIndex((line) => line.startsWith(beginning)));
  async function run(...stages: string[]): Promise<void> {
    const { NODE_COMPILE_CACHE, PATH, HOME } = process.env;
    [code, lines] = await new Promise((ended) =>
      execFile(
        process.execPath,
        [join(folder, "main.ts"), ...stages],
        { env: { PATH, HOME, ...(NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}) }, maxBuffer: 2 ** 24 },
        (error, stdout) => ended([error === null ? 0 : Number(error.code), stdout.trimEnd().split("\n")]),
      ),
    );
  }

  describe("in which everything fails that can", () => {
    beforeAll(() => run("failing", "unloaded", "crashing", "killed"), 60_000);

    test("ends with the counts, as nothing else does", () => {
      expect(lines.at(-1)).toBe("1 passed, 4 failed");
      expect(code).toBe(1);
    });

    test("names each failure with its stage, file and title, and begins its message", () => {
      const block = from("failed:").join("\n");
      expect(block).toMatch(/^ {2}failing › \S*fails\.test\.ts › one and one make three\n(.*\n){0,4}.*Expected: 3/m);
      expect(block).toMatch(/^ {2}unloaded › \S*unloaded\.test\.ts\n(.*\n){0,4}.*this suite does not load/m);
      expect(block).toMatch(/^ {2}crashing\n.*the stage has no world/m);
      expect(block).toMatch(/^ {2}killed\n.*ended by SIGKILL(.*\n){1,3}.*about to be killed/m);
      expect(block).not.toMatch(/node_modules|node:internal/);
    });

    test("keeps the whole output of each stage, and says where", async () => {
      const [, logs = ""] = /the whole output is in (.*?):/.exec(from("failed:").join("\n")) ?? [];
      expect((await readdir(logs)).filter((name) => name.endsWith(".log")).sort()).toEqual(
        ["crashing.log", "failing.log", "killed.log", "unloaded.log"].sort(),
      );
      expect(await readFile(join(logs, "failing.log"), "utf8")).toContain("one and one make three");
    });
  });

  test("shows the end of a stage's output below those messages alone that say that the cause is there", async () => {
    await run("quoting", "causeless");
    const block = from("failed:").join("\n");
    expect(block).toMatch(/^ {2}causeless\n {6}The program failed\. The output ends:\n {6}said by the program\n/m);
    expect(block).toMatch(/^ {2}quoting › quotes\n {6}The program failed\. Its output ends:\n {2}causeless/m);
    expect(lines.at(-1)).toBe("0 passed, 2 failed");
  }, 60_000);

  test("names as many failures as eighty lines hold, and counts the rest", async () => {
    await run("many");
    const block = from("failed:");
    expect(block.length).toBeLessThanOrEqual(82);
    const named = block.filter((line) => line.includes("test number"));
    expect(block.join("\n")).toContain(`and ${100 - named.length} more`);
    expect(named.length).toBeGreaterThan(70);
    expect(lines.at(-1)).toBe("0 passed, 100 failed");
  }, 60_000);

  describe("with a file that fails only once", () => {
    beforeEach(() => rm(join(folder, "mark"), { force: true }));
    afterEach(() => rm(join(folder, "mark"), { force: true }));

    test("runs it again, counts what passed then, and lists it as unsteady with its first message", async () => {
      await run("unsteady");
      expect(existsSync(join(folder, "mark"))).toBe(true);
      expect(lines.at(-1)).toBe("2 passed, 0 failed");
      expect(code).toBe(0);
      const block = from("unsteady:").join("\n");
      expect(block).toMatch(/unsteady › \S*unsteady\.test\.ts › passes the second time\n(.*\n){0,4}.*Expected: true/);
    }, 60_000);

    test("runs no file again of a stage that waits for no real programs", async () => {
      await run("failing");
      expect(lines.filter((line) => line.startsWith("once more"))).toEqual([]);
      expect(lines.at(-1)).toBe("1 passed, 1 failed");
    }, 60_000);
  });

  test("runs nothing again where more than five files failed", async () => {
    await run("strewn");
    expect(lines).toContain("more than 5 files failed: none runs again");
    expect(lines.filter((line) => line.startsWith("once more"))).toEqual([]);
    expect(lines.at(-1)).toBe("0 passed, 6 failed");
    expect(code).toBe(1);
  }, 60_000);
});
