import { buildCommand } from "@stricli/core";
import type { UpdateEnvironmentRequest } from "../../../sdk/index.ts";
import type { Context } from "../../context.ts";
import { misuse } from "../../failure.ts";
import { hoursOf } from "../../input/duration.ts";
import { given } from "../../input/given.ts";
import { type SleepFlags, sleepFlags, sleepRequest } from "../../input/sleep.ts";
import { type OutputFlags, print } from "../../output/print.ts";
import { documented, onlyName, optionalText, outputAliases, outputFlags, timeout } from "../../parameters.ts";
import { shownEnvironment } from "./environment-columns.ts";
import { environmentOf } from "./environment-of.ts";
import { waitFor } from "./environment-wait.ts";
import { setTtl } from "./extend.ts";
import { change } from "./switches.ts";

interface Flags extends OutputFlags, SleepFlags {
  readonly branch?: string | undefined;
  readonly commit?: string | undefined;
  readonly frontendBranch?: string | undefined;
  readonly frontendCommit?: string | undefined;
  readonly configSetVersion?: ConfigSetVersion | undefined;
  readonly ttl?: number | undefined;
  readonly reason?: string | undefined;
  readonly protected?: boolean | undefined;
  readonly asleep?: boolean | undefined;
  readonly wait: boolean;
  readonly timeout: number;
}

type ConfigSetVersion = NonNullable<UpdateEnvironmentRequest["config_set_version"]>;

async function run(this: Context, flags: Flags, name: string): Promise<void> {
  const { ttl, reason } = flags;
  const moves = given({
    backend_branch: flags.branch,
    backend_commit: flags.commit,
    frontend_branch: flags.frontendBranch,
    frontend_commit: flags.frontendCommit,
    config_set_version: flags.configSetVersion,
  });
  const body: UpdateEnvironmentRequest = {
    ...moves,
    ...given({ protected: flags.protected, suspended: flags.asleep, sleep: sleepRequest(flags) }),
  };
  const isChanged = Object.keys(body).length > 0;
  if (!isChanged && ttl === undefined) throw misuse("nothing to change: eenv update --help lists what can be");
  const { id } = await environmentOf(this, name);
  if (ttl !== undefined) await setTtl(this, id, { hours: ttl, reason });
  const changed = isChanged ? await change(this, id, body) : undefined;
  if (flags.wait && changed !== undefined && Object.keys(moves).length > 0) {
    // A move does not wake what sleeps, but something else may.
    await waitFor(this, id, { goal: "ready", orGoal: "asleep", timeoutSeconds: flags.timeout });
  }
  await print(this, shownEnvironment(await environmentOf(this, id)), flags);
}

function configSetVersionOf(input: string): ConfigSetVersion {
  if (input === "current") return input;
  if (!/^[1-9]\d{0,8}$/.test(input)) throw new Error("it must be a number, or current");
  return Number(input);
}

/** `eenv update`. */
export const update = buildCommand<Flags, [name: string], Context>({
  func: run,
  parameters: {
    positional: onlyName,
    flags: {
      branch: optionalText("Branch that the backend moves to", "branch"),
      commit: optionalText("Commit that the backend moves to (default: the head of the branch)", "sha"),
      frontendBranch: optionalText("Branch that the frontend moves to", "branch"),
      frontendCommit: optionalText("Commit that the frontend moves to (default: the head of the branch)", "sha"),
      configSetVersion: {
        kind: "parsed",
        parse: configSetVersionOf,
        optional: true,
        placeholder: "version",
        brief: "Version of its config set that it moves to: current, or the number of that",
      },
      ttl: {
        kind: "parsed",
        parse: hoursOf,
        optional: true,
        placeholder: "duration",
        brief: "From its creation to its deletion, such as 8h or 2d",
      },
      reason: optionalText("Why it lives longer or shorter, for the audit trail"),
      protected: { kind: "boolean", brief: "Protected from deletion and expiry", optional: true },
      ...sleepFlags,
      asleep: { kind: "boolean", brief: "Without pods; secrets and data stay", optional: true },
      wait: { kind: "boolean", brief: "After a move, wait until it is ready, and show the progress", default: true },
      timeout: timeout("15m"),
      ...outputFlags,
    },
    aliases: outputAliases,
  },
  docs: documented(
    "Move an environment to another branch or commit, or change several things of it",
    [
      "update shop-pr-42 --branch feature/cart",
      "update shop-pr-42 --commit 9f2c1d4e8f5a4a399d0b6a1f6c1f7f1011223344 --no-wait",
      "update shop-pr-42 --ttl 3d --protected",
      'update shop-pr-42 --awake "Mon-Fri 08:00-19:00" --time-zone Europe/Berlin',
      "update shop-pr-42 --awake always",
      "update shop-pr-42 --no-protected --asleep -o json",
    ],
    "What runs stays until the new version is ready. --branch alone moves to the head of that branch, also of the present one.",
  ),
});
