import { shownPhase } from "../../crds/environment/phase.ts";
import type { RequestedReconcile } from "../../operator/ports/facade/environments.ts";
import { visibleTo } from "../auth/access.ts";
import { route } from "../route.ts";
import { cleanUp } from "./cleanup/cleanup.ts";
import { CleanupReply, CleanupRequest } from "./cleanup/schemas.ts";
import { EnvironmentPath, MessageReply } from "./schemas.ts";
import { visibleEnvironment } from "./visible-environment.ts";

/** A pass over an environment that has all it needs takes less; whoever waits longer looks again. */
const PASS_WAIT_MS = 5_000;

/** Asks the operator for a pass; the operator answers in the resource's status. */
const reconcileStatus = route({
  method: "post",
  path: "/api/environments/{environment_id}/reconcile-status",
  operationId: "reconcileEnvironmentStatus",
  summary: "Force a status reconciliation",
  description:
    "Looks at everything of the environment anew, asks its URLs, repairs what is not as it should be, and brings its status up to date. It waits for that for five seconds; the message says whether it is done or goes on. One reconciliation serves all who ask within five seconds. An environment that is being deleted is reconciled, too.",
  tag: "environments",
  access: { permission: "environments:update" },
  rate: "caller",
  envelope: "v2",
  params: EnvironmentPath,
  auditTarget: ({ params }: { readonly params: { readonly environment_id: string } }) => params.environment_id,
  reply: MessageReply,
  refusals: ["ENV_NOT_FOUND"],
})(async ({ params, caller }, platform) => {
  const environment = await visibleEnvironment(params.environment_id, caller, platform);
  const pass = await platform.environments.reconcile(environment, { withinMs: PASS_WAIT_MS });
  return { status: "success", message: messageOf(pass) };
});

function messageOf({ state, environment }: RequestedReconcile): string {
  const about = `environment '${environment.metadata.name}'`;
  if (state === "gone") return `Status reconciled: ${about} is deleted`;
  const status = shownPhase(environment);
  if (state === "answered") return `Status reconciled: ${about} is ${status}`;
  return `Status reconciliation of ${about} goes on; it was ${status} when last seen`;
}

/** Deletes what failed and nobody uses. */
const cleanupFailed = route({
  method: "post",
  path: "/api/environments/cleanup-failed",
  operationId: "cleanupFailedEnvironments",
  summary: "Clean up failed environments",
  description:
    "Initiates the deletion of all failed environments that are accessible to the current user. Protected ones stay, and those whose former version still runs, unless `include_running` says otherwise. One that can't be deleted never stops the others: it is listed under `errors`.",
  tag: "environments",
  access: { permission: "environments:delete" },
  rate: "caller",
  envelope: "v2",
  body: CleanupRequest,
  auditTarget: ({ body }: { readonly body: CleanupRequest }) =>
    body.dry_run ? "failed environments, as a rehearsal" : "failed environments",
  reply: CleanupReply,
  refusals: ["ENV_CONFIG_INVALID"],
})(async ({ body, caller }, platform) => {
  const failed = platform.environments.page({ isVisible: visibleTo(caller), phase: "failed" });
  return { status: "success", ...(await cleanUp(failed.items, body, platform)) };
});

export const environmentUpkeepRoutes = [reconcileStatus, cleanupFailed] as const;
