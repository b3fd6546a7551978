import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Plugin, rolldown } from "rolldown";
import { inAscii } from "../bundle/ascii.ts";
import type { ClientBuild } from "./client-build.ts";

/** The command line as one self-contained file for Node. */
export const cli: ClientBuild = {
  name: "clients/cli",
  sources: ["clients/cli/**/*.ts", "package.json", "clients/sdk/*.ts"],
  made: "clients/cli/dist/eenv.mjs",
  async make(checkout) {
    const file = join(checkout, this.made);
    const unfinished = `${file}.${process.pid}`;
    const code = await bundled(join(checkout, "clients/cli/main.ts"), [packed(/\/mcp\/serve\.ts$/, "serveTools")]);
    try {
      await writeFile(unfinished, `#!/usr/bin/env node\n${code}`, { mode: 0o755 });
      await rename(unfinished, file);
    } finally {
      await rm(unfinished, { force: true });
    }
  },
};

async function bundled(input: string, plugins: Plugin[]): Promise<string> {
  const bundle = await rolldown({
    input,
    plugins,
    platform: "node",
    tsconfig: false,
    checks: { pluginTimings: false },
  });
  try {
    const { output } = await bundle.generate({ format: "esm", codeSplitting: false, minify: true });
    return inAscii(output[0].code);
  } finally {
    await bundle.close();
  }
}

/**
 * Keeps a rarely used module and its imports as compressed text, imported on demand. Otherwise the engine scans its code at
 * each start: the library of the Model Context Protocol took longer than everything else.
 */
const packed = (module: RegExp, exported: string): Plugin => ({
  name: "packed",
  load: {
    filter: { id: module },
    async handler(id) {
      const text = gzipSync(await bundled(id, [])).toString("base64");
      return {
        moduleType: "js",
        code: `export async function ${exported}(...given) {
  const { gunzipSync } = await import("node:zlib");
  const code = gunzipSync(Buffer.from("${text}", "base64")).toString("base64");
  return (await import("data:text/javascript;base64," + code)).${exported}(...given);
}`,
      };
    },
  },
});
