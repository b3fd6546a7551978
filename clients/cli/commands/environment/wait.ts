import { buildCommand } from "@stricli/core";
import { PlatformError } from "../../../sdk/index.ts";
import type { Context } from "../../context.ts";
import { type OutputFlags, print } from "../../output/print.ts";
import { documented, onlyName, outputAliases, outputFlags, timeout } from "../../parameters.ts";
import { shownEnvironment } from "./environment-columns.ts";
import { environmentOf } from "./environment-of.ts";
import { GOALS, type Goal, waitFor } from "./environment-wait.ts";

interface Flags extends OutputFlags {
  readonly for: Goal;
  readonly timeout: number;
}

async function run(this: Context, flags: Flags, name: string): Promise<void> {
  const goal = flags.for;
  const found = await environmentOf(this, name).catch((error: unknown) => {
    const isGone = error instanceof PlatformError && error.status === 404;
    if (isGone && goal === "deleted") return undefined;
    throw error;
  });
  const reached = found && (await waitFor(this, found.id, { goal, timeoutSeconds: flags.timeout }));
  if (reached === undefined) this.say(`${name} is gone.`);
  else await print(this, shownEnvironment(reached), flags);
}

/** `eenv wait`. */
export const wait = buildCommand<Flags, [name: string], Context>({
  func: run,
  parameters: {
    positional: onlyName,
    flags: {
      for: { kind: "enum", values: GOALS, brief: "Goal of the wait", default: "ready" },
      timeout: timeout("15m"),
      ...outputFlags,
    },
    aliases: outputAliases,
  },
  docs: documented(
    "Wait until an environment is ready, asleep or deleted",
    ["wait shop-pr-42", "wait shop-pr-42 --for ready --timeout 5m -o json"],
    "It ends with 3 when the environment fails, and with 124 when it takes longer than the timeout.",
  ),
});
