import { buildCommand } from "@stricli/core";
import type { Context } from "../../context.ts";
import { hoursOf } from "../../input/duration.ts";
import { type OutputFlags, print } from "../../output/print.ts";
import { documented, environmentName, optionalText, outputAliases, outputFlags } from "../../parameters.ts";
import { shownEnvironment } from "./environment-columns.ts";
import { environmentOf } from "./environment-of.ts";

interface Flags extends OutputFlags {
  readonly reason?: string | undefined;
}

async function run(this: Context, flags: Flags, name: string, hours: number): Promise<void> {
  const { id, ttl_hours } = await environmentOf(this, name);
  await setTtl(this, id, { hours: ttl_hours + hours, reason: flags.reason });
  const environment = await environmentOf(this, id);
  this.say(`${environment.name} expires at ${environment.expires_at}.`);
  await print(this, shownEnvironment(environment), flags);
}

/** Sets the hours from its creation to its deletion. */
export async function setTtl(
  context: Context,
  id: string,
  { hours, reason }: { readonly hours: number; readonly reason: string | undefined },
): Promise<void> {
  await context.client().call("PUT /api/v2/environments/{environment_id}", {
    path: { environment_id: id },
    body: { ttl_hours: hours, ...(reason !== undefined && { description: reason }) },
  });
}

/** `eenv extend`. */
export const extend = buildCommand<Flags, [name: string, hours: number], Context>({
  func: run,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        environmentName,
        { brief: "By how much, such as 8h or 2d", placeholder: "duration", parse: hoursOf },
      ],
    },
    flags: { reason: optionalText("Why, for the audit trail"), ...outputFlags },
    aliases: outputAliases,
  },
  docs: documented(
    "Let an environment live longer by some hours",
    ['extend shop-pr-42 8h --reason "demo on Friday"', "extend shop-pr-42 1d"],
    "eenv update NAME --ttl sets the whole time from its creation instead.",
  ),
});
