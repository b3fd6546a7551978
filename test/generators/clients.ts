import { cp, mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { cacheRoot } from "../../deploy/build/folders.ts";
import { type RunOptions, run } from "../../deploy/build/run.ts";
import { goModule, oapiCodegen, openapiGenerator, openapiPythonClient, whyNoGo } from "./tools.ts";

const checkout = resolve(import.meta.dirname, "../..");
const document = join(checkout, "api/openapi.json");
/** Many times the duration on an idle machine. */
const DEADLINE_MS = 10 * 60_000;

/** A client in one language, by one generator. */
export interface Client {
  readonly name: string;
  /** The reasons why its generator or compiler can't run on this machine, each in one sentence, or undefined. */
  readonly obstacles: readonly (() => Promise<string | undefined>)[];
  /** Generates it into an empty folder and compiles it; fails with the tool's output. */
  make(folder: string): Promise<void>;
}

export const clients: readonly Client[] = [
  {
    name: `${openapiGenerator.name}, TypeScript (fetch)`,
    obstacles: [openapiGenerator.whyNot],
    async make(folder) {
      await generate("typescript-fetch", folder);
      const how = ["--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"];
      const tsc = join(checkout, "node_modules/.bin/tsc");
      await call(tsc, ["--noEmit", ...how, "--lib", "es2022,dom,dom.iterable", "index.ts"], { cwd: folder });
    },
  },
  {
    name: `${openapiGenerator.name}, Go`,
    obstacles: [openapiGenerator.whyNot, whyNoGo],
    async make(folder) {
      await generate("go", join(folder, "client"), "--additional-properties", "withGoMod=false");
      await compileGo(folder);
    },
  },
  {
    name: `${openapiGenerator.name}, Python`,
    obstacles: [openapiGenerator.whyNot, openapiPythonClient.whyNot],
    async make(folder) {
      await generate("python", folder);
      await checkPython(folder, "openapi_client");
    },
  },
  {
    name: `${oapiCodegen.name}, Go`,
    obstacles: [oapiCodegen.whyNot],
    async make(folder) {
      await mkdir(join(folder, "client"));
      const how = ["-generate", "types,client", "-package", "client", "-o", "client/client.go"];
      await call(await oapiCodegen.installed(), [...how, document], { cwd: folder });
      await compileGo(folder);
    },
  },
  {
    name: `${openapiPythonClient.name}, Python`,
    obstacles: [openapiPythonClient.whyNot],
    async make(folder) {
      const programs = dirname(await openapiPythonClient.installed());
      // The generator calls ruff, which was installed with it.
      const env = { ...process.env, PATH: `${programs}:${process.env.PATH}` };
      // ruff 0.17's default rules rewrite the signature of __exit__, which mypy then refuses.
      const hooks = ["--config", join(import.meta.dirname, "openapi-python-client.json")];
      // The generator only warns about parts that it leaves out.
      const how = [...hooks, "--path", document, "--meta", "none", "--output-path", "client", "--fail-on-warning"];
      await call(join(programs, "openapi-python-client"), ["generate", ...how], { cwd: folder, env });
      await checkPython(folder, "client");
    },
  },
];

async function generate(generator: string, folder: string, ...how: readonly string[]): Promise<void> {
  // A short run: Java's full compilation takes longer than it saves.
  const java = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", await openapiGenerator.installed()];
  const codeOnly = ["--global-property", "apiDocs=false,modelDocs=false,apiTests=false,modelTests=false"];
  const what = ["generate", "--input-spec", document, "--generator-name", generator, "--output", folder];
  await call("java", [...java, ...what, ...codeOnly, ...how], { cwd: dirname(folder) });
}

/** The folder's package `client` with the modules that go.sum pins. */
async function compileGo(folder: string): Promise<void> {
  for (const file of ["go.mod", "go.sum"]) await cp(join(goModule, file), join(folder, file));
  await call("go", ["build", "./client"], { cwd: folder });
}

/**
 * Python has no compiler: every module is loaded, which creates its classes, and every type is checked. mypy's cache has the
 * libraries, and never the new client.
 */
async function checkPython(folder: string, name: string): Promise<void> {
  const python = await openapiPythonClient.installed();
  const env = { ...process.env, PYTHONPATH: folder };
  await call(python, [join(import.meta.dirname, "import_all.py"), name], { cwd: folder, env });
  await call(python, ["-m", "mypy", "--cache-dir", join(cacheRoot(), `mypy-${name}`), "--package", name], {
    cwd: folder,
  });
}

function call(command: string, args: readonly string[], where: RunOptions): Promise<string> {
  return run(command, args, { ...where, deadlineMs: DEADLINE_MS });
}
