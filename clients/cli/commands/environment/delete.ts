import { buildCommand } from "@stricli/core";
import type { Context } from "../../context.ts";
import { type ConfirmFlags, confirm, confirmFlags } from "../../input/confirm.ts";
import { documented, off, onlyName, timeout } from "../../parameters.ts";
import { environmentOf } from "./environment-of.ts";
import { waitFor } from "./environment-wait.ts";

interface Flags extends ConfirmFlags {
  readonly wait: boolean;
  readonly timeout: number;
}

async function run(this: Context, flags: Flags, name: string): Promise<void> {
  const environment = await environmentOf(this, name);
  await confirm(this, `Delete ${environment.name} with all its data?`, flags);
  const path = { environment_id: environment.id };
  await this.client().call("DELETE /api/v2/environments/{environment_id}", { path });
  if (flags.wait) await waitFor(this, environment.id, { goal: "deleted", timeoutSeconds: flags.timeout });
  this.say(flags.wait ? `${environment.name} is deleted.` : `${environment.name} is being deleted.`);
}

/** `eenv delete`. */
export const remove = buildCommand<Flags, [name: string], Context>({
  func: run,
  parameters: {
    positional: onlyName,
    flags: { wait: off("Wait until everything of it is gone"), timeout: timeout("15m"), ...confirmFlags },
    aliases: { y: "yes" },
  },
  docs: documented("Delete an environment with all its data", ["delete shop-pr-42 --yes"]),
});
