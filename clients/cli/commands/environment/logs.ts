import { buildCommand } from "@stricli/core";
import type { LogEntry } from "../../../sdk/index.ts";
import type { Context } from "../../context.ts";
import { misuse } from "../../failure.ts";
import { followed } from "../../following.ts";
import { plainJson, plainLine } from "../../output/plain.ts";
import { serialized } from "../../output/print.ts";
import { count, documented, environmentName, off, optionalText } from "../../parameters.ts";

const COMPONENTS = ["backend", "frontend", "argocd"] as const;
type Component = (typeof COMPONENTS)[number];

interface Flags {
  readonly follow: boolean;
  readonly since?: string | undefined;
  readonly tail?: number | undefined;
  readonly workload?: string | undefined;
  readonly timestamps: boolean;
  readonly output: "table" | "json" | "yaml";
}

async function run(this: Context, flags: Flags, name: string, component: Component = "backend"): Promise<void> {
  const { since, tail: lines, workload, output } = flags;
  const query = {
    ...(since !== undefined && { since }),
    ...(lines !== undefined && { lines }),
    ...(workload !== undefined && { workload }),
  };
  if (flags.follow) return follow(this, { name, component, query }, flags);
  const route = "GET /api/v2/environments/{environment_id}/logs/{component}";
  const reply = await this.client().call(route, { path: { environment_id: name, component }, query });
  if (output === "table") for (const entry of reply.logs) this.process.stdout.write(lineOf(entry, flags));
  else this.process.stdout.write(await serialized(reply, output));
}

interface Followed {
  readonly name: string;
  readonly component: Component;
  readonly query: { readonly since?: string; readonly lines?: number; readonly workload?: string };
}

/** A broken connection continues after the last line. */
async function follow(context: Context, { name, component, query }: Followed, flags: Flags): Promise<void> {
  if (component === "argocd") throw misuse("the report of argocd can't be followed: leave -f out");
  if (flags.output === "yaml")
    throw misuse("what is followed can't be YAML: -o json writes a line of JSON for each entry");
  const { stdout } = context.process;
  const route = "GET /api/v2/environments/{environment_id}/logs/{component}/stream";
  const input = { path: { environment_id: name, component }, query, signal: context.interrupted };
  for await (const { data } of followed(context, route, input)) {
    stdout.write(flags.output === "json" ? `${plainJson(data)}\n` : lineOf(data, flags));
  }
  context.say(`${name} is gone.`);
}

function lineOf({ timestamp, level, message }: LogEntry, { timestamps }: Flags): string {
  return `${timestamps ? `${plainLine(timestamp)} ` : ""}${plainLine(level).padEnd(5)} ${plainLine(message)}\n`;
}

/** `eenv logs`. */
export const logs = buildCommand<Flags, [name: string, component?: Component], Context>({
  func: run,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        environmentName,
        {
          brief: "backend (default), frontend, or argocd",
          placeholder: "component",
          optional: true,
          parse: componentOf,
          proposeCompletions: (partial) => COMPONENTS.filter((name) => name.startsWith(partial)),
        },
      ],
    },
    flags: {
      follow: off("Go on with new lines until the environment is gone"),
      since: optionalText("Nothing older than this, such as 30m or 1d", "duration"),
      tail: { ...count("How many of the newest lines"), optional: true },
      workload: optionalText("Instead of the component's: of this workload, such as StatefulSet/redis", "name"),
      timestamps: off("With the time of each line"),
      output: { kind: "enum", values: ["table", "json", "yaml"], brief: "Form of the output", default: "table" },
    },
    aliases: { f: "follow", o: "output" },
  },
  docs: documented("Print the logs of a component", [
    "logs shop-pr-42 --tail 100",
    "logs shop-pr-42 backend --since 30m --timestamps",
    "logs shop-pr-42 --workload Deployment/shop-api",
    "logs shop-pr-42 argocd -o json",
  ]),
});

function componentOf(text: string): Component {
  const found = COMPONENTS.find((name) => name === text);
  if (found === undefined) throw new Error(`it must be one of ${COMPONENTS.join(", ")}`);
  return found;
}
