import { buildCommand } from "@stricli/core";
import type { Context } from "../../context.ts";
import { type ConfirmFlags, confirm, confirmFlags } from "../../input/confirm.ts";
import { type OutputFlags, print } from "../../output/print.ts";
import { documented, off, onlyName, outputAliases, outputFlags, timeout } from "../../parameters.ts";
import { shownEnvironment } from "./environment-columns.ts";
import { environmentOf } from "./environment-of.ts";
import { waitFor } from "./environment-wait.ts";

interface Flags extends ConfirmFlags, OutputFlags {
  readonly wait: boolean;
  readonly timeout: number;
}

async function run(this: Context, flags: Flags, name: string): Promise<void> {
  const environment = await environmentOf(this, name);
  await confirm(this, `Make the database of ${environment.name} anew, and delete its data?`, flags);
  const path = { environment_id: environment.id };
  const reset = await this.client().call("POST /api/v2/environments/{environment_id}/database/reset", { path });
  const waited = flags.wait && (await waitFor(this, reset.id, { goal: "ready", timeoutSeconds: flags.timeout }));
  await print(this, shownEnvironment(waited || reset), flags);
}

/** `eenv reset-database`. */
export const resetDatabase = buildCommand<Flags, [name: string], Context>({
  func: run,
  parameters: {
    positional: onlyName,
    flags: { wait: off("Wait until it is ready"), timeout: timeout("15m"), ...confirmFlags, ...outputFlags },
    aliases: { ...outputAliases, y: "yes" },
  },
  docs: documented("Make the database of an environment anew, empty or with its seed; its data is deleted", [
    "reset-database shop-pr-42 --yes",
  ]),
});
