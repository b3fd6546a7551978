import { findCondition } from "../../crds/conditions.ts";
import { ConfigInvalid } from "../../crds/errors.ts";
import { branchOf, type Repository } from "../../crds/repository/repository.ts";
import type { Caller } from "../auth/callers.ts";
import { createRequested } from "../environments/creation/create-environment.ts";
import { toCreated } from "../environments/views.ts";
import { isUsable } from "../repositories/usable-repository.ts";
import { concerning } from "../request-context.ts";
import { route, type Services } from "../route.ts";
import { DEMO_DASHBOARD, DemoDashboard, SampleReply } from "./schemas.ts";

const SAMPLE_TTL_HOURS = 2;
/** Enough that nobody meets another's. */
const NAME_BYTES = 5;

/** The insights dashboard's shape, from fixed data. */
const getDemoDashboard = route({
  method: "get",
  path: "/api/demos/dashboard",
  operationId: "getDemoDashboard",
  summary: "Get a demo dashboard",
  description: "The insights dashboard's shape, filled with fixed data: for building on it before there is any.",
  tag: "demos",
  access: { permission: "insights:read" },
  rate: "caller",
  envelope: "always",
  reply: DemoDashboard,
  refusals: [],
})(() => DEMO_DASHBOARD);

/** A real environment, for two hours, of a Repository that the caller may use. */
const createSampleEnvironment = route({
  method: "post",
  path: "/api/demos/sample-environment",
  operationId: "createSampleEnvironment",
  summary: "Create a sample environment",
  description:
    "Creates an environment of the first backend repository (by name) that the caller may use and that has room, from its default branch, for two hours.",
  tag: "demos",
  access: { permission: "environments:create" },
  rate: "caller",
  envelope: "v2",
  auditTarget: () => "a sample environment",
  reply: SampleReply,
  links: { "/api/environments/{environment_id}": "/environment/id" },
  refusals: ["ENV_NAME_EXISTS", "ENV_CONFIG_INVALID", "ENV_REPO_NOT_FOUND", "ENV_CREATION_FAILED"],
  refuses: ["conflict"],
})(async ({ caller }, platform) => {
  const { settings, randomBytes } = platform;
  const repository = sampleRepository(caller, platform);
  const body = {
    environment_name: `demo-${Buffer.from(randomBytes(NAME_BYTES)).toString("hex")}`,
    backend_repo: repository.metadata.name,
    backend_branch: branchOf(repository),
    ttl: Math.min(SAMPLE_TTL_HOURS, settings.ttl.maximumHours),
  };
  const environment = concerning(await createRequested({ body, caller, key: undefined }, platform));
  return { status: "success", environment: toCreated(environment, settings), demo: true };
});

/** One that has room, if any does: that of the first is the reason that there is no sample. */
function sampleRepository(caller: Caller, platform: Services): Repository {
  const fit = platform.repositories.list().filter((repository) => isUsable(repository, caller) && isFit(repository));
  const sorted = fit.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const chosen = sorted.find((repository) => platform.quotas.has(repository)) ?? sorted[0];
  if (chosen !== undefined) return chosen;
  throw new ConfigInvalid([{ field: "", message: "there is no backend repository that you may use: register one" }]);
}

/** Whether its default branch can become an environment, as far as its last check knows. */
function isFit({ spec, status }: Repository): boolean {
  const isBranchThere = findCondition(status?.conditions, "Ready")?.reason !== "BranchNotFound";
  return spec.type === "backend" && status?.reachable !== false && isBranchThere;
}

export const demoRoutes = [getDemoDashboard, createSampleEnvironment] as const;
