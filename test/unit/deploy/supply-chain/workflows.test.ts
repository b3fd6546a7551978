import { existsSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import packageJson from "../../../../package.json" with { type: "json" };

const checkout = resolve(import.meta.dirname, "../../../..");

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly needs?: string;
  readonly uses?: string;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly on: Readonly<Record<string, unknown>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

let workflows: Map<string, Workflow>;
beforeAll(async () => {
  workflows = new Map();
  for await (const name of glob("*.yml", { cwd: join(checkout, ".github/workflows") })) {
    workflows.set(name, parse(await readFile(join(checkout, ".github/workflows", name), "utf8")) as Workflow);
  }
});

const jobs = () => [...workflows.values()].flatMap((workflow) => Object.values(workflow.jobs));
const steps = () => jobs().flatMap(({ steps: own = [] }) => own);

describe("abuse case 89: a workflow of the repository's host", () => {
  test("calls actions of others by a commit, which can't be moved", () => {
    const used = [...jobs(), ...steps()].flatMap(({ uses }) => uses ?? []);
    const foreign = used.filter((uses) => !uses.startsWith("./"));
    expect(foreign.length).toBeGreaterThan(3);
    expect(foreign.filter((uses) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/.test(uses))).toEqual([]);
  });

  test("gives the right to write to no job by default, and not for a pull request's code", () => {
    for (const { permissions } of workflows.values()) {
      expect(Object.values(permissions).filter((access) => access !== "read")).toEqual([]);
    }
    for (const { on, jobs: own } of workflows.values()) {
      if (!("pull_request" in on)) continue;
      expect(Object.values(own).flatMap(({ permissions = {} }) => Object.values(permissions))).toEqual([]);
    }
    expect([...workflows.values()].filter(({ on }) => "pull_request_target" in on)).toEqual([]);
  });

  test("puts no text of an event into a shell", () => {
    const scripts = steps().flatMap(({ run }) => run ?? []);
    expect(scripts.filter((script) => script.includes("${{"))).toEqual([]);
  });

  test("calls commands that there are", async () => {
    const makefile = await readFile(join(checkout, "Makefile"), "utf8");
    const scripts = steps().flatMap(({ run }) => run ?? []);
    for (const [, target] of scripts.join("\n").matchAll(/\bmake (?:--\S+ )*([a-z-]+) [A-Z]/g)) {
      expect(makefile).toMatch(new RegExp(`^${target}:`, "m"));
    }
    expect(scripts).toContain(".ci/run");
    expect(existsSync(join(checkout, ".ci/run"))).toBe(true);
  });
});

test("a release is published after its tests, by a job that alone may sign", () => {
  const release = workflows.get("release.yml");
  const { test: tested, publish } = release?.jobs ?? {};
  expect(tested?.uses).toBe("./.github/workflows/ci.yml");
  expect(publish?.needs).toBe("test");
  expect(publish?.permissions).toMatchObject({ "id-token": "write", packages: "write" });
  expect(tested?.permissions).toEqual({ contents: "read" });
});

test("the documentation verifies the identity of that workflow, at the tag of this version", async () => {
  const documentation = await readFile(join(checkout, "docs/install.md"), "utf8");
  expect(documentation).toContain(`/.github/workflows/release.yml@refs/tags/v${packageJson.version}\n`);
});
