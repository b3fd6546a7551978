/** Tools for assistants, over the Model Context Protocol on stdin and stdout. Loaded only when they are served. */
import {
  acceptedContent,
  type CallToolResult,
  fromJsonSchema,
  inputRequired,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Client } from "../../sdk/index.ts";
import { sentenceOf } from "../failure.ts";
import { plain, plainJson } from "../output/plain.ts";
import { VERSION } from "../version.ts";
import { type Tool, tools } from "./tools.ts";

interface Serving {
  readonly client: Client;
  /** True to offer tools that destroy something. */
  readonly allowsDeletion: boolean;
  readonly say: (line: string) => void;
}

const CONFIRMATION = fromJsonSchema<{ confirm: boolean }>({
  type: "object",
  properties: { confirm: { type: "boolean", title: "Delete it" } },
  required: ["confirm"],
});

type Answer = Exclude<ReturnType<typeof inputRequired>, never> | CallToolResult;

/** Serves until stdin ends. */
export function serveTools({ client, allowsDeletion, say }: Serving): Promise<void> {
  const offered = tools.filter(({ kind }) => allowsDeletion || kind !== "destroys");
  const ended = new Promise<void>((resolve) => process.stdin.once("close", resolve).once("end", resolve));
  serveStdio(() => serverOf(offered, client), { onerror: (error) => say(`eenv mcp: ${plain(error.message)}`) });
  return ended;
}

function serverOf(offered: readonly Tool[], client: Client): McpServer {
  const server = new McpServer({ name: "eenv", version: VERSION }, { capabilities: { tools: {} } });
  for (const tool of offered) {
    const { name, description, kind, schema } = tool;
    const annotations = { readOnlyHint: kind === "reads", destructiveHint: kind === "destroys" };
    const inputSchema = fromJsonSchema<Record<string, unknown>>(schema as Parameters<typeof fromJsonSchema>[0]);
    server.registerTool(name, { description, annotations, inputSchema }, (given, context) =>
      answerOf(tool, given, { client, context }),
    );
  }
  return server;
}

async function answerOf(
  tool: Tool,
  given: Record<string, unknown>,
  { client, context }: { client: Client; context: ServerContext },
): Promise<Answer> {
  const { inputResponses, signal } = context.mcpReq;
  if (tool.kind === "destroys") {
    const confirmation = await acceptedContent(inputResponses, "confirm", CONFIRMATION);
    if (inputResponses === undefined) return question(given);
    if (confirmation?.confirm !== true) return failure("It was not confirmed: nothing was deleted.");
  }
  try {
    return { content: [{ type: "text", text: plainJson(await tool.run(client, given, signal), 2) }] };
  } catch (error) {
    return failure(plain(sentenceOf(error)));
  }
}

const failure = (text: string): CallToolResult => ({ content: [{ type: "text", text }], isError: true });

/** Asks the person through the client, not the assistant. Where the client can't, the call fails. */
const question = ({ environment_id }: Record<string, unknown>) =>
  inputRequired({
    inputRequests: {
      confirm: inputRequired.elicit({
        message: `Delete the environment ${plain(String(environment_id))} with all its data?`,
        requestedSchema: CONFIRMATION,
      }),
    },
  });
