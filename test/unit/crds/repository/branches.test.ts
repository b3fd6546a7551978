import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { EnvironmentSpec } from "../../../../crds/environment/ephemeral-environment.schema.ts";
import {
  BRANCH_MAX_BYTES,
  BRANCH_RULES,
  type BranchRule,
  branchProblem,
} from "../../../../crds/repository/branches.ts";
import { RepositorySpec } from "../../../../crds/repository/repository.schema.ts";

const MISLEADING = /[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\uFFFD]/u;

describe("a branch", () => {
  test.each([
    ["main", undefined],
    ["feature/shop-42", undefined],
    ["release/1.2.x", undefined],
    ["locked", undefined],
    ["a.lock.b", undefined],
    ["dependabot/npm_and_yarn/@types/node-22", undefined],
    ["feature/a+b", undefined],
    ["release#2", undefined],
    ["größe/日本語", undefined],
    ["fix/🚀", undefined],
    ["a$&b'c\"d<e>f;g|h%i(j)k,l!m=n`o{p}", undefined],
    ["é".repeat(122), undefined],
    ["a..b", "must not contain '..'"],
    ["a//b", "must not contain '//'"],
    ["a/.b", "must not contain '/.'"],
    ["a.lock/b", "must not contain '.lock/'"],
    ["a@{1}", "must not contain '@{'"],
    ["a.lock", "must not end with '.lock'"],
    ["a.", "must not end with '.'"],
    ["a/", "must not end with '/'"],
    ["HEAD", "must not be 'HEAD': name the branch that it stands for"],
    [`${"é".repeat(122)}a`, "may have 244 bytes at most in UTF-8"],
    ["a\u202eb", "must not contain invisible characters, nor such as turn the direction of the text"],
    ["a\u200db", "must not contain invisible characters, nor such as turn the direction of the text"],
    ["a\u0085b", "must not contain invisible characters, nor such as turn the direction of the text"],
    ["a\u00a0b", "must not contain invisible characters, nor such as turn the direction of the text"],
    ["a\ud83d", "must not contain invisible characters, nor such as turn the direction of the text"],
    ...[
      "--upload-pack=x",
      "-a",
      ".a",
      "/a",
      "x:refs/heads/y",
      "a~1",
      "a^",
      "a?",
      "a*",
      "a[",
      "a\\b",
      "a b",
      "a\n",
      "",
    ].map((branch) => [branch, expect.stringContaining("must be a git branch name")] as const),
  ])("%j: %s", (branch, problem) => {
    expect(branchProblem(branch)).toEqual(problem);
  });

  test("is what git takes, but for what is invisible and what is too long", async () => {
    const sign = fc.oneof(
      fc.constantFrom(..."ab/.-@{~^:?*[\\ #+%$'\"é日🚀\u200b\u202e\u00a0\u007f\n"),
      fc.constantFrom("..", "//", ".lock", "@{", "HEAD", "refs/heads/"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 2 }),
    );
    const name = fc.array(sign, { minLength: 1, maxLength: 6 }).map((signs) => signs.join(""));
    const names = fc.sample(
      fc.oneof(
        name,
        name.map((short) => short + "é".repeat(120)),
      ),
      400,
    );
    const requested = names.filter((one) => !one.includes("\u0000"));
    const taken = await takenByGit(requested);
    const expected = requested.map((one, at) => {
      const isShort = Buffer.byteLength(one) <= BRANCH_MAX_BYTES;
      return [one, taken[at] === true && isShort && !MISLEADING.test(one)];
    });
    expect(requested.map((one) => [one, branchProblem(one) === undefined])).toEqual(expected);
    expect(new Set(taken)).toEqual(new Set([true, false]));
  });

  test("has none of what this Unicode knows as invisible, and may have all else beyond ASCII", () => {
    const signs = Array.from({ length: 0x110000 - 0x7f }, (_, at) => at + 0x7f)
      .filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
      .map((codePoint) => String.fromCodePoint(codePoint));
    const { holds } = BRANCH_RULES.at(-1) as BranchRule;
    const [seen, unseen] = [
      signs.filter((sign) => !MISLEADING.test(sign)),
      signs.filter((sign) => MISLEADING.test(sign)),
    ];
    expect(holds(seen.join(""))).toBe(true);
    expect(unseen.filter(holds)).toEqual([]);
  });

  test.each([
    ["an environment's backend", EnvironmentSpec.properties.backend],
    ["an environment's frontend", EnvironmentSpec.properties.frontend],
    ["a Repository", RepositorySpec],
  ])("is held to every rule in %s too", (_where, schema) => {
    const cel = JSON.stringify(schema);
    for (const rule of BRANCH_RULES) expect(cel).toContain(rule.message);
  });
});

/** True for names that `git branch` accepts: one process of git each, started by one shell. */
async function takenByGit(names: readonly string[]): Promise<boolean[]> {
  const loop = 'while IFS= read -r -d "" n; do git check-ref-format --branch "$n" >/dev/null 2>&1; echo $?; done';
  // Outside every repository: within one, git resolves `@{-1}`.
  const shell = spawn("bash", ["-c", loop], { cwd: tmpdir(), stdio: ["pipe", "pipe", "inherit"] });
  shell.stdin.end(names.map((name) => `${name}\0`).join(""));
  const [answers] = await Promise.all([text(shell.stdout), once(shell, "exit")]);
  return answers
    .trim()
    .split("\n")
    .map((code) => code === "0");
}
