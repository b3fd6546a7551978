import { buildCommand } from "@stricli/core";
import { openInBrowser } from "../../auth/browser.ts";
import type { Context } from "../../context.ts";
import { EXIT, Failure } from "../../failure.ts";
import { plainLine } from "../../output/plain.ts";
import { documented, onlyName } from "../../parameters.ts";
import { urlOf } from "./environment-columns.ts";
import { environmentOf } from "./environment-of.ts";

interface Flags {
  readonly backend: boolean;
  readonly browser: boolean;
}

async function run(this: Context, { backend, browser }: Flags, name: string): Promise<void> {
  const { urls } = await environmentOf(this, name);
  const address = URL.parse(backend ? urls.backend : urlOf({ urls }));
  if (address === null) throw new Failure(EXIT.refused, `${name} has no URL yet`);
  this.process.stdout.write(`${plainLine(address.href)}\n`);
  if (browser) await openInBrowser(address, this.process.env);
}

/** `eenv open`. */
export const open = buildCommand<Flags, [name: string], Context>({
  func: run,
  parameters: {
    positional: onlyName,
    flags: {
      backend: {
        kind: "boolean",
        brief: "The backend, also where there is a frontend",
        default: false,
        withNegated: false,
      },
      browser: { kind: "boolean", brief: "Open a browser; the URL is printed in any case", default: true },
    },
  },
  docs: documented("Open an environment in the browser", ["open shop-pr-42 --no-browser"]),
});
