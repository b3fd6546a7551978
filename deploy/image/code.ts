import { copyFile, cp, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { BUNDLE_MAIN, bundleOperator } from "../bundle/operator-bundle.ts";
import { buildClients } from "../clients/build.ts";

const checkout = join(import.meta.dirname, "../..");

/** The entry file of the process. */
export const mainFile = `/app/dist/operator/${BUNDLE_MAIN}`;

/**
 * Lays out the layer of our own code below `root/app`: the process's bundle and its served files. Bundled packages stay in
 * the layer below, for their licences and for version scanners.
 */
export async function layOutCode(root: string): Promise<void> {
  const app = join(root, "app");
  await bundleOperator(join(root, dirname(mainFile)));
  // Development tools are not in the image.
  const { name, version, license, type, dependencies } = packageJson;
  await writeFile(join(app, "package.json"), JSON.stringify({ name, version, license, type, dependencies }, null, 2));
  await copyFile(join(checkout, "LICENSE"), join(app, "LICENSE"));
  await layOutClients(app);
}

/** Served client files: the command line and the web console. */
async function layOutClients(app: string): Promise<void> {
  await buildClients();
  for (const made of ["clients/cli/dist/eenv.mjs", "clients/console/dist/index.html", "clients/console/dist/assets"]) {
    await cp(join(checkout, made), join(app, made), { recursive: true });
  }
}
