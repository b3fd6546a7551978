import { visibleTo } from "../../auth/access.ts";
import { route } from "../../route.ts";
import { cleanUp } from "./cleanup.ts";
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
