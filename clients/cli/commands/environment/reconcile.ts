import { buildCommand } from "@stricli/core";
import type { Context } from "../../context.ts";
import { plainLine } from "../../output/plain.ts";
import { documented, onlyName } from "../../parameters.ts";

async function run(this: Context, _flags: Record<never, never>, name: string): Promise<void> {
  const path = { environment_id: name };
  const { message } = await this.client().call("POST /api/v2/environments/{environment_id}/reconcile-status", { path });
  this.say(plainLine(message));
}

/** `eenv reconcile`. */
export const reconcile = buildCommand<Record<never, never>, [name: string], Context>({
  func: run,
  parameters: { positional: onlyName },
  docs: documented("Have the operator look at an environment now", ["reconcile shop-pr-42"]),
});
