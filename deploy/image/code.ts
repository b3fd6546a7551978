import { copyFile, cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { buildClients } from "../clients/build.ts";
import { run } from "../local/processes/run.ts";

const checkout = join(import.meta.dirname, "../..");
const compiler = join(checkout, "node_modules/.bin/tsc");

/** Where the process begins. */
export const mainFile = "/app/operator/main.js";

/**
 * Lays out the layer of our own code below `root/app`: JavaScript of the modules that the process imports, and no others.
 * Types are the matter of `make verify`; the folder `work` may be used meanwhile.
 */
export async function layOutCode(root: string, work: string): Promise<void> {
  const app = join(root, "app");
  await mkdir(app, { recursive: true });
  const project = join(work, "tsconfig.json");
  await writeFile(project, JSON.stringify(compilation(app)));
  await run(process.execPath, [compiler, "--project", project], { deadlineMs: 5 * 60_000 });
  // The compiler copies it, because the process reads its version there; the tools for development are not in the image.
  const { name, version, license, type, dependencies } = packageJson;
  await writeFile(join(app, "package.json"), JSON.stringify({ name, version, license, type, dependencies }, null, 2));
  await copyFile(join(checkout, "LICENSE"), join(app, "LICENSE"));
  await layOutClients(app);
}

/** What the process serves to people: the command line's file, and the web console. */
async function layOutClients(app: string): Promise<void> {
  await buildClients();
  for (const made of ["clients/cli/dist/eenv.mjs", "clients/console/dist/index.html", "clients/console/dist/assets"]) {
    await cp(join(checkout, made), join(app, made), { recursive: true });
  }
}

function compilation(outDir: string): object {
  return {
    extends: join(checkout, "tsconfig.json"),
    compilerOptions: { noEmit: false, noCheck: true, rootDir: checkout, outDir, types: [] },
    include: [],
    files: [join(checkout, "operator/main.ts")],
  };
}
