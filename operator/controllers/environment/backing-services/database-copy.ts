import { findCondition } from "../../../../crds/conditions.ts";
import { mayCopyDatabase } from "../../../../crds/environment/database-copy.ts";
import { type EphemeralEnvironment, hasDatabase } from "../../../../crds/environment/ephemeral-environment.ts";
import { isAsleep } from "../../../../crds/environment/sleep.ts";
import { namespaceName } from "../../../../crds/names.ts";
import { failed, type Unfinished, waiting } from "../step-result.ts";
import type { ServiceInput } from "./backing-service.ts";

/** Secret with the password of the source's role, until the copy is made. */
export const COPY_SECRET = "database-copy";

/** Fallback for the watch of the source. */
const RECHECK_MS = 30_000;

/** Chart values of the Job that makes the copy. */
export function copyValues(from: string, { copySource, configSet }: ServiceInput) {
  const statements = [...(copySource?.masks ?? []), ...(configSet?.database?.mask ?? [])];
  return {
    format: "copy",
    host: `database.${namespaceName(from)}.svc`,
    secret: COPY_SECRET,
    // Both config sets have a say: another one for the copy must not show what the source's hides.
    mask: [...new Set(statements)],
  } as const;
}

/** Result while the copy can't be made; `undefined` where it can. */
export function copyProblem(from: string, { environment, copySource }: ServiceInput): Unfinished | undefined {
  const source = copySource?.environment;
  if (source === undefined || source.metadata.deletionTimestamp !== undefined) {
    const what = source === undefined ? `there is no environment '${from}'` : `environment '${from}' is being deleted`;
    return failed("CopySourceNotFound", `${what}: name another one in spec.database.from, or leave that out`);
  }
  if (!mayCopyDatabase(environment.spec, source.spec)) {
    const rule = "a copy needs groups in spec.access.groups that are all groups of its source, or else the same owner";
    return failed("CopyNotAllowed", `the database of environment '${from}' may not be copied here: ${rule}`);
  }
  if (!hasDatabase(source)) {
    return failed(
      "CopySourceNotFound",
      `environment '${from}' has no database: name another one in spec.database.from`,
    );
  }
  const lacking = lackingInSource(source, copySource?.isConfigured === true);
  return lacking === undefined ? undefined : waiting("WaitingForCopySource", lacking, { requeueAfterMs: RECHECK_MS });
}

function lackingInSource(source: EphemeralEnvironment, isConfigured: boolean): string | undefined {
  const { spec, status, metadata } = source;
  const what = `the database of environment '${metadata.name}' is copied`;
  if (spec.suspended) return `${what} once that environment is resumed`;
  if (isAsleep(source)) return `${what} once that environment is awake: wake it, or open it`;
  const { status: ready, reason } = findCondition(status?.conditions, "DatabaseReady") ?? {};
  if (ready !== "True" || reason !== "Ready") return `${what} once it is ready there`;
  return isConfigured ? undefined : `${what} once its config set, whose database.mask counts, is resolved there`;
}
