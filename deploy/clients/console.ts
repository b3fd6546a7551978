import { chmod, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";
import type { ClientBuild } from "./client-build.ts";

/** The web console: a page and its resources, each also in compressed form. */
export const webConsole: ClientBuild = {
  name: "clients/console",
  sources: ["clients/console/*.{ts,tsx,html,svg}", "clients/console/*/*.{ts,tsx,css}", "clients/sdk/*.ts"],
  made: "clients/console/dist/index.html",
  async make(checkout) {
    const root = join(checkout, "clients/console");
    const folder = join(root, "dist");
    const unfinished = await mkdtemp(`${folder}-`);
    try {
      await build({ configFile: join(root, "vite.config.ts"), logLevel: "warn", build: { outDir: unfinished } });
      await compressAll(join(unfinished, "assets"));
      // Other users read it, too.
      await chmod(unfinished, 0o755);
      await rm(folder, { recursive: true, force: true });
      await rename(unfinished, folder).catch(unlessMade);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  },
};

/** Another process may have built the same meanwhile. */
function unlessMade(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
}

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);
const MOST = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };

async function compressAll(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const content = await readFile(file);
    await writeFile(`${file}.br`, await brotli(content, MOST));
    await writeFile(`${file}.gz`, await zip(content, { level: constants.Z_BEST_COMPRESSION }));
  }
}
