import { buildCommand } from "@stricli/core";
import type { Context } from "../context.ts";
import { documented, off } from "../parameters.ts";

interface Flags {
  readonly allowDelete: boolean;
}

async function run(this: Context, { allowDelete }: Flags): Promise<void> {
  const client = this.client();
  const { serveTools } = await import("../mcp/serve.ts");
  await serveTools({ client, allowsDeletion: allowDelete, say: this.say });
}

/** `eenv mcp`. */
export const mcp = buildCommand<Flags, [], Context>({
  func: run,
  parameters: { flags: { allowDelete: off("Also offer to delete environments; the user is asked each time") } },
  docs: documented(
    "Serve tools for assistants, over the Model Context Protocol on stdin and stdout",
    ["mcp", "mcp --allow-delete"],
    'In a client\'s configuration: {"command": "eenv", "args": ["mcp"]}. It acts as the logged-in user.',
  ),
});
