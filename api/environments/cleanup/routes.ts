import pLimit from "p-limit";
import { findCondition } from "../../../crds/conditions.ts";
import { HOUR_MS } from "../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isProtected, isRefusedReturn } from "../../../crds/environment/lifetime.ts";
import { shownPhase } from "../../../crds/environment/phase.ts";
import { isAsleep } from "../../../crds/environment/sleep.ts";
import { ClusterUnavailable, DomainError, EnvironmentConflict } from "../../../crds/errors.ts";
import { visibleTo } from "../../auth/access.ts";
import { addAuditObject } from "../../request-context.ts";
import { route } from "../../route.ts";
import type { Services } from "../../services.ts";
import { CleanupReply, CleanupRequest } from "./schemas.ts";

/** Deletes failed environments that are not in use. */
export const cleanupFailedEnvironments = route({
  endpoint: "POST /api/environments/cleanup-failed",
  summary: "Clean up failed environments",
  description:
    "Initiates the deletion of all failed environments that are accessible to the current user. Protected ones stay, and those whose former version still runs, unless `include_running` says otherwise. One that can't be deleted never stops the others: it is listed under `errors`.",
  access: { permission: "environments:delete" },
  body: CleanupRequest,
  auditTarget: ({ body }) => (body.dry_run ? "failed environments, as a dry run" : "failed environments"),
  reply: CleanupReply,
  errors: ["ENV_CONFIG_INVALID"],
})(async ({ body, caller }, services) => {
  const failed = services.environments.page({ isVisible: visibleTo(caller), phase: "failed" });
  return { status: "success", ...(await cleanUp(failed.items, body, services)) };
});

/** More would only queue before the API server. */
const AT_ONCE = 8;
/** Checks before an environment is skipped. */
const ROUNDS = 5;

type Outcome = { readonly id: string; readonly name: string } & (
  | { readonly came: "cleaned" }
  | { readonly came: "skipped"; readonly reason: string }
  | { readonly came: "error"; readonly error: unknown }
);

/** `undefined` when it may be deleted. */
function reasonToSkip(
  environment: EphemeralEnvironment,
  { older_than_hours = 0, include_running = false }: CleanupRequest,
  now: Date,
): string | undefined {
  if (shownPhase(environment) !== "failed") return "it is no longer failed";
  if (isProtected(environment)) return "it is protected";
  if (isRefusedReturn(environment)) return "it is not built at all: it stands for its manifest in Git";
  if (now.getTime() - failedSince(environment) < older_than_hours * HOUR_MS) {
    return `it has been failed for less than ${older_than_hours} h`;
  }
  return include_running ? undefined : reasonOfUse(environment);
}

function failedSince({ metadata, status }: EphemeralEnvironment): number {
  return Date.parse(findCondition(status?.conditions, "Ready")?.lastTransitionTime ?? metadata.creationTimestamp);
}

/** A former version may be in use, also after waking; if unknown, it is. */
function reasonOfUse(environment: EphemeralEnvironment): string | undefined {
  const { spec, status } = environment;
  if (spec.suspended || isAsleep(environment))
    return status?.readyAt === undefined ? undefined : "the version before the failure sleeps";
  const isSilent = findCondition(status?.conditions, "UrlsReady")?.status === "False";
  return status?.servingHash && !isSilent ? "the version before the failure still runs" : undefined;
}

/**
 * Deletes the permitted environments, each in exactly the checked version; an error of one never stops the others.
 *
 * @throws ClusterUnavailable when none could be deleted and the Kubernetes API can't be reached
 */
async function cleanUp(
  environments: readonly EphemeralEnvironment[],
  request: CleanupRequest,
  services: Services,
): Promise<Omit<CleanupReply, "status">> {
  const outcomes = await pLimit(AT_ONCE).map(environments, (environment) => cleanOne(environment, request, services));
  const errors = outcomes.filter((outcome) => outcome.came === "error");
  const cleaned = outcomes.filter(({ came }) => came === "cleaned");
  const outage = errors.find(({ error }) => error instanceof ClusterUnavailable)?.error;
  if (outage !== undefined && cleaned.length === 0) throw outage;
  const share = `${cleaned.length} of ${environments.length} failed environments`;
  return {
    message: request.dry_run ? `${share} would be deleted` : `Deletion of ${share} initiated`,
    cleaned: cleaned.map(({ id, name }) => ({ id, name })),
    skipped: outcomes
      .filter((outcome) => outcome.came === "skipped")
      .map(({ id, name, reason }) => ({ id, name, reason })),
    errors: errors.map(({ id, error }) => ({ id, detail: detailOf(error) })),
    total: environments.length,
  };
}

async function cleanOne(
  environment: EphemeralEnvironment,
  request: CleanupRequest,
  services: Services,
): Promise<Outcome> {
  const { uid: id, name } = environment.metadata;
  try {
    const reason = await reasonNotRemoved(environment, request, services);
    return reason === undefined ? { id, name, came: "cleaned" } : { id, name, came: "skipped", reason };
  } catch (error) {
    // A user has protected the environment meanwhile.
    if (error instanceof EnvironmentConflict) return { id, name, came: "skipped", reason: error.message };
    const level = error instanceof DomainError ? "warn" : "error";
    services.log[level]("a failed environment could not be deleted", { environment: name, error });
    return { id, name, came: "error", error };
  }
}

/** Checks and deletes, again after a change in between; else the reason. */
async function reasonNotRemoved(
  environment: EphemeralEnvironment,
  request: CleanupRequest,
  { environments, clock }: Services,
): Promise<string | undefined> {
  let current: EphemeralEnvironment | undefined = environment;
  for (let round = 1; round <= ROUNDS; round++) {
    if (current === undefined) return "it is gone already";
    const reason = reasonToSkip(current, request, clock.now());
    if (reason !== undefined || request.dry_run) return reason;
    if ((await environments.remove(current, { onlyThisVersion: true, cause: "cleanup" })) === "removing") {
      addAuditObject(environment);
      return undefined;
    }
    current = await environments.reread(environment);
  }
  return "it is changing all the time";
}

const detailOf = (error: unknown) => (error instanceof DomainError ? error.message : "Internal server error");
