/** Commands that switch something of an environment on or off. */
import { buildCommand } from "@stricli/core";
import type { UpdateEnvironmentRequest } from "../../../sdk/index.ts";
import type { Context } from "../../context.ts";
import { type OutputFlags, print } from "../../output/print.ts";
import { documented, off, onlyName, outputAliases, outputFlags, timeout } from "../../parameters.ts";
import { shownEnvironment } from "./environment-columns.ts";
import { type Goal, waitFor } from "./environment-wait.ts";

/** Changes an environment. @throws PlatformError when it is not found, is being deleted, or can't be changed so */
export function change(context: Context, name: string, body: UpdateEnvironmentRequest) {
  const options = { path: { environment_id: name }, body };
  return context.client().call("PATCH /api/v2/environments/{environment_id}", options);
}

interface WaitingFlags extends OutputFlags {
  readonly wait: boolean;
  readonly timeout: number;
}

interface Suspension {
  readonly suspended: boolean;
  readonly goal: Goal;
  readonly brief: string;
  readonly examples: readonly string[];
}

const suspension = ({ suspended, goal, brief, examples }: Suspension) =>
  buildCommand<WaitingFlags, [name: string], Context>({
    async func(flags, name) {
      const switched = await change(this, name, { suspended });
      const waited = flags.wait && (await waitFor(this, switched.id, { goal, timeoutSeconds: flags.timeout }));
      await print(this, shownEnvironment(waited || switched), flags);
    },
    parameters: {
      positional: onlyName,
      flags: { wait: off(`Wait until it is ${goal}`), timeout: timeout("15m"), ...outputFlags },
      aliases: outputAliases,
    },
    docs: documented(brief, examples),
  });

/** `eenv sleep`. */
export const sleep = suspension({
  suspended: true,
  goal: "asleep",
  examples: ["sleep shop-pr-42"],
  brief: "Stop the pods of an environment; secrets and data stay",
});
/** `eenv wake`. */
export const wake = suspension({
  suspended: false,
  goal: "ready",
  examples: ["wake shop-pr-42"],
  brief: "Start the pods of an environment that sleeps",
});

const protection = (isProtected: boolean, brief: string, examples: readonly string[]) =>
  buildCommand<OutputFlags, [name: string], Context>({
    async func(flags, name) {
      await print(this, shownEnvironment(await change(this, name, { protected: isProtected })), flags);
    },
    parameters: { positional: onlyName, flags: outputFlags, aliases: outputAliases },
    docs: documented(brief, examples),
  });

/** `eenv protect`. */
export const protect = protection(true, "Protect an environment from deletion and expiry", ["protect shop-pr-42"]);
/** `eenv unprotect`. */
export const unprotect = protection(false, "Take the protection of an environment back", ["unprotect shop-pr-42"]);
