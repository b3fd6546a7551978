import type { CommandContext } from "@stricli/core";
import type { Context } from "./context.ts";
import { secondsOf } from "./input/duration.ts";
import { FORMS } from "./output/print.ts";

/** Documentation of a command: a summary, and examples behind `eenv`. */
export function documented(brief: string, examples: readonly string[], more = "") {
  const about = more === "" ? brief : `${brief}.\n\n${more}`;
  return { brief, fullDescription: [about, "", "Examples:", ...examples.map((line) => `  eenv ${line}`)].join("\n") };
}

/** Parameter of any text. */
export const text = (brief: string) => ({ kind: "parsed", parse: String, brief }) as const;
/** Optional text. */
export const optionalText = (brief: string, placeholder = "text") =>
  ({ kind: "parsed", parse: String, brief, placeholder, optional: true }) as const;
/** A switch that is off. */
export const off = (brief: string) => ({ kind: "boolean", brief, default: false, withNegated: false }) as const;

/** A whole number from 0. */
export const count = (brief: string) => ({ kind: "parsed", parse: wholeNumber, brief, placeholder: "number" }) as const;

function wholeNumber(input: string): number {
  if (!/^\d{1,9}$/.test(input)) throw new Error("it must be a whole number");
  return Number(input);
}

/** Flags `-o` and `--no-headers`. */
export const outputFlags = {
  output: { kind: "enum", values: FORMS, brief: "Form of the output", default: "table" },
  headers: { kind: "boolean", brief: "Titles of the columns", default: true },
} as const;
/** Aliases of the output flags. */
export const outputAliases = { o: "output" } as const;

/** Flag `--timeout` of commands that wait. */
export const timeout = (preset: string) =>
  ({
    kind: "parsed",
    parse: toSeconds,
    brief: "Time limit of the wait",
    placeholder: "duration",
    default: preset,
  }) as const;

/** Node's timers of more than 2 ** 31 milliseconds end at once. */
const LONGEST_WAIT_SECONDS = 24 * 86_400;

function toSeconds(input: string): number {
  const seconds = Math.floor(secondsOf(input));
  if (seconds < 1 || seconds > LONGEST_WAIT_SECONDS) throw new Error("it must be from 1 second to 24 days");
  return seconds;
}

/** The name of an environment, or its id. */
export const environmentName = {
  brief: "Name of the environment, or its id",
  placeholder: "name",
  parse: String,
  async proposeCompletions(this: CommandContext, partial: string): Promise<string[]> {
    const { environments } = await (this as Context)
      .client({ attempts: 1 })
      .call("GET /api/v2/environments", { query: { search: partial, limit: 100 } });
    return environments.map(({ name }) => name).filter((name) => name.startsWith(partial));
  },
} as const;

/** One name and nothing else. */
export const onlyName = { kind: "tuple", parameters: [environmentName] } as const;
