import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

const checkout = resolve(import.meta.dirname, "../../..");

const FILES = {
  "ends.test.ts": `
    import { beforeAll, describe, expect, test } from "@jest/globals";
    test("passes", () => expect(1 as number).toBe(1));
    test("fails", () => expect(1 as number).toBe(2));
    test("rejects where no one waits", async () => {
      void Promise.reject(new Error("not awaited"));
      await new Promise(setImmediate);
    });
    test("throws outside", async () => {
      setImmediate(() => { throw new Error("outside"); });
      await new Promise((resolve) => setTimeout(resolve, 10));
    });
    test("takes too long", () => new Promise(() => undefined), 20);
    test("asserts too little", () => expect.assertions(1));
    test.skip("is skipped", () => undefined);
    describe("after a hook that failed", () => {
      beforeAll(() => { throw new Error("no world"); });
      test("is not run", () => undefined);
    });
  `,
  "unloaded.test.ts": `import "./absent.ts";`,
  "empty.test.ts": "export {};",
};

interface Report {
  readonly numFailedTestSuites: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

describe("Jest with our runner", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "runner-"));
    await symlink(join(checkout, "node_modules"), join(folder, "node_modules"));
    for (const [name, source] of Object.entries(FILES)) await writeFile(join(folder, name), source);
  });
  afterAll(() => rm(folder, { recursive: true }));

  test("reports every end of a test, and files without tests fail", async () => {
    const { testResults, numFailedTestSuites } = await jest();
    const statuses = testResults.flatMap(({ assertionResults }) =>
      assertionResults.map(({ fullName, status }) => [fullName, status]),
    );
    expect(Object.fromEntries(statuses)).toEqual({
      passes: "passed",
      fails: "failed",
      "rejects where no one waits": "failed",
      "throws outside": "failed",
      "takes too long": "failed",
      "asserts too little": "failed",
      "is skipped": "pending",
      "after a hook that failed is not run": "failed",
    });
    expect(numFailedTestSuites).toBe(3);
    const messages = testResults.map(({ message }) => message).join("\n");
    for (const said of ["not awaited", "outside", "no world", "absent.ts", "must contain at least one test"])
      expect(messages).toContain(said);
  }, 60_000);

  test("runs only the tests that are named", async () => {
    const { testResults } = await jest("--testNamePattern", "^passes$", "ends.test");
    const ran = testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status }) => status !== "pending");
    expect(ran.map(({ fullName }) => fullName)).toEqual(["passes"]);
  }, 60_000);

  async function jest(...flags: string[]): Promise<Report> {
    const outputFile = join(folder, "report.json");
    const config = {
      rootDir: folder,
      transform: {},
      testMatch: [join(folder, "*.test.ts")],
      testRunner: join(checkout, "test/runner/native.ts"),
    };
    const args = ["--config", JSON.stringify(config), "--json", `--outputFile=${outputFile}`, "--runInBand", ...flags];
    // The exit status only shows that tests failed: the report names them.
    await new Promise((ended) =>
      execFile(process.execPath, [join(checkout, "node_modules/.bin/jest"), ...args], ended),
    );
    return JSON.parse(await readFile(outputFile, "utf8")) as Report;
  }
});
