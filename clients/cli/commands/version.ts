import { buildCommand } from "@stricli/core";
import type { Context } from "../context.ts";
import { documented } from "../parameters.ts";
import { VERSION } from "../version.ts";

function run(this: Context): void {
  this.process.stdout.write(`${VERSION}\n`);
}

/** `eenv version`. */
export const version = buildCommand<Record<never, never>, [], Context>({
  func: run,
  parameters: {},
  docs: documented("Print the version", ["version"]),
});
