import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheRoot } from "../../deploy/build/folders.ts";
import { showProgress } from "../../deploy/build/progress.ts";
import { findProgram, run } from "../../deploy/build/run.ts";
import { buildModule } from "../../deploy/local/builds/build.ts";
import type { GoModule } from "../../deploy/local/builds/modules.ts";
import { installedPython, whyNoPython } from "../support/plane/python.ts";

/** A pinned generator in the cache. */
export interface Tool {
  /** Public name with the version. */
  readonly name: string;
  /** The reason why it can't run on this machine, in one sentence, or undefined. */
  whyNot(): Promise<string | undefined>;
  /** The path of its program, installed if it is not in the cache. */
  installed(): Promise<string>;
}

const JAR = {
  artifact: "org.openapitools:openapi-generator-cli:7.25.0",
  file: "openapi-generator-cli-7.25.0.jar",
  sha256: "41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae",
} as const;
const MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";

export const openapiGenerator: Tool = {
  name: "openapi-generator 7.25.0",

  async whyNot() {
    const missing = ["java", "mvn"].filter((program) => findProgram(program) === undefined);
    return missing.length > 0 ? `It needs Java and Maven (Debian: default-jre-headless, maven).` : undefined;
  },

  installed: once(async () => {
    const folder = join(cacheRoot(), `openapi-generator-${JAR.sha256.slice(0, 16)}`);
    const jar = join(folder, JAR.file);
    if (existsSync(jar)) return jar;
    await mkdir(cacheRoot(), { recursive: true });
    const unfinished = await mkdtemp(`${folder}.unfinished-`);
    try {
      const target = [`-Dartifact=${JAR.artifact}`, `-DoutputDirectory=${unfinished}`];
      await run("mvn", ["--batch-mode", "--quiet", MAVEN_COPY, ...target], {
        cwd: unfinished,
        deadlineMs: 10 * 60_000,
      });
      const found = createHash("sha256")
        .update(await readFile(join(unfinished, JAR.file)))
        .digest("hex");
      if (found !== JAR.sha256) throw new Error(`${JAR.artifact} has the SHA-256 ${found}, expected ${JAR.sha256}`);
      await rename(unfinished, folder);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
    return jar;
  }),
};

/** The Go module of oapi-codegen, and of the generated Go's imports; its go.sum has their hashes. */
export const goModule = join(import.meta.dirname, "go");
const component: GoModule = {
  name: "oapi-codegen",
  folder: "../../test/generators/go",
  target: "tool",
  buildSeconds: 60,
};

export const oapiCodegen: Tool = {
  name: "oapi-codegen 2.8.2",
  whyNot: whyNoGo,
  installed: once(async () => join((await buildModule(component, showProgress())).programs, "oapi-codegen")),
};

/** The reason why Go can't compile here, in one sentence, or undefined. */
export async function whyNoGo(): Promise<string | undefined> {
  return findProgram("go") === undefined ? "It needs Go 1.26 or newer." : undefined;
}

/** A Python with the generator, mypy, and the imports of openapi-generator's clients. */
export const openapiPythonClient: Tool = {
  name: "openapi-python-client 0.29.1",
  whyNot: whyNoPython,
  installed: once(() => installedPython("generators", join(import.meta.dirname, "requirements.txt"))),
};

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work();
    return result;
  };
}
