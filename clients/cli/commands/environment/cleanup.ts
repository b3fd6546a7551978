import { buildCommand } from "@stricli/core";
import type { Context } from "../../context.ts";
import { EXIT, Failure } from "../../failure.ts";
import { type ConfirmFlags, confirm, confirmFlags } from "../../input/confirm.ts";
import { hoursOf } from "../../input/duration.ts";
import { plainLine } from "../../output/plain.ts";
import { type OutputFlags, print } from "../../output/print.ts";
import { documented, off, outputAliases, outputFlags } from "../../parameters.ts";

interface Flags extends OutputFlags, ConfirmFlags {
  readonly dryRun: boolean;
  readonly olderThan?: number | undefined;
  readonly includeRunning: boolean;
}

interface Row {
  readonly name: string;
  readonly outcome: string;
}

async function run(this: Context, flags: Flags): Promise<void> {
  const { dryRun, olderThan } = flags;
  if (!dryRun) await confirm(this, "Delete the failed environments with all their data?", flags);
  const body = {
    dry_run: dryRun,
    include_running: flags.includeRunning,
    ...(olderThan !== undefined && { older_than_hours: olderThan }),
  };
  const reply = await this.client().call("POST /api/v2/environments/cleanup-failed", { body });
  const items: Row[] = [
    ...reply.cleaned.map(({ name }) => ({ name, outcome: dryRun ? "would be deleted" : "is being deleted" })),
    ...reply.skipped.map(({ name, reason }) => ({ name, outcome: `stays: ${reason}` })),
    ...reply.errors.map(({ id, detail }) => ({ name: id, outcome: `failed: ${detail}` })),
  ];
  const columns = [
    { title: "NAME", of: ({ name }: Row) => name },
    { title: "OUTCOME", of: ({ outcome }: Row) => outcome },
  ];
  await print(this, { data: reply, items, columns, name: ({ name }) => name }, flags);
  this.say(plainLine(reply.message));
  if (reply.errors.length > 0) throw new Failure(EXIT.refused, `${reply.errors.length} could not be deleted`);
}

/** `eenv cleanup`. */
export const cleanup = buildCommand<Flags, [], Context>({
  func: run,
  parameters: {
    flags: {
      dryRun: off("Show what would be deleted, and delete nothing"),
      olderThan: {
        kind: "parsed",
        parse: hoursOf,
        optional: true,
        placeholder: "duration",
        brief: "Only those that have been failed for as long, such as 24h",
      },
      includeRunning: off("Also those whose former version still runs, or sleeps"),
      ...confirmFlags,
      ...outputFlags,
    },
    aliases: { y: "yes", ...outputAliases },
  },
  docs: documented("Delete failed environments", ["cleanup --dry-run", "cleanup --older-than 24h --yes"]),
});
