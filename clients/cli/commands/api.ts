import { buildCommand } from "@stricli/core";
import type { Context } from "../context.ts";
import { misuse } from "../failure.ts";
import { documentIn } from "../input/document.ts";
import { serialized } from "../output/print.ts";
import { documented, optionalText } from "../parameters.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

interface Flags {
  readonly file?: string | undefined;
  readonly output: "json" | "yaml";
}

/** Any operation, also one that this version does not know. */
type AnyCall = (route: string, input: { readonly body?: unknown; readonly signal: AbortSignal }) => Promise<unknown>;

async function run(this: Context, { file, output }: Flags, method: string, path: string): Promise<void> {
  if (!/^\/(?!\/)/.test(path)) throw misuse("the path begins with /, such as /api/v2/environments?limit=5");
  const body = file === undefined ? undefined : await documentIn(file, this.process.stdin);
  const call = this.client().call as unknown as AnyCall;
  const reply = await call(`${method} ${path}`, { ...(body && { body }), signal: this.interrupted });
  this.process.stdout.write(await serialized(reply, output));
}

/** `eenv api`. */
export const api = buildCommand<Flags, [method: string, path: string], Context>({
  func: run,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        { brief: `One of ${METHODS.join(", ")}`, placeholder: "method", parse: methodOf },
        { brief: "Path of the operation, with its query", placeholder: "path", parse: String },
      ],
    },
    flags: {
      file: optionalText("File (YAML or JSON) with the body, - for stdin", "file"),
      output: { kind: "enum", values: ["json", "yaml"], brief: "Form of the output", default: "json" },
    },
    aliases: { f: "file", o: "output" },
  },
  docs: documented(
    "Call any operation of the REST interface, and print its data",
    ["api GET '/api/v2/environments?limit=5'", "api PATCH /api/v2/environments/shop-pr-42 -f body.json"],
    "Operations: /docs of the platform.",
  ),
});

function methodOf(text: string): string {
  const found = METHODS.find((method) => method === text.toUpperCase());
  if (found === undefined) throw new Error(`it must be one of ${METHODS.join(", ")}`);
  return found;
}
