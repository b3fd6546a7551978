import { Type } from "typebox";
import { findCondition } from "../../crds/conditions.ts";
import { ConfigInvalid } from "../../crds/errors.ts";
import { branchOf, type Repository } from "../../crds/repository/repository.ts";
import { closed } from "../../crds/schema.ts";
import type { Caller } from "../auth/access.ts";
import { createFromRequest } from "../environments/creation/create-environment.ts";
import { CreateReply } from "../environments/schemas.ts";
import { toCreated } from "../environments/views.ts";
import { INSIGHTS_DASHBOARD_EXAMPLE } from "../insights/examples.ts";
import { dashboard } from "../insights/schemas.ts";
import { isUsable } from "../repositories/usable-repository.ts";
import { feature, route } from "../route.ts";
import { titled } from "../schemas/fields.ts";
import { byName } from "../schemas/page.ts";
import type { Services } from "../services.ts";

const Demo = Type.Literal(true, { examples: [true], description: "Marks demo data." });
const DAYS = [
  ["2026-01-05", 18, 14, 1],
  ["2026-01-12", 24, 20, 0],
  ["2026-01-19", 31, 27, 2],
  ["2026-01-26", 27, 29, 1],
] as const;

/** Figures of a fictitious company's month. */
const DEMO_DASHBOARD = {
  demo: true as const,
  ...INSIGHTS_DASHBOARD_EXAMPLE,
  period: { from: "2026-01-01T00:00:00.000Z", to: "2026-01-31T00:00:00.000Z" },
  top_repositories: [
    { id: "shop-api", environments: 58 },
    { id: "billing-api", environments: 42 },
  ],
  trends: DAYS.map(([date, created, deleted, failed]) => ({ date, created, deleted, failed })),
};

const DemoDashboard = closed({ demo: Demo, ...dashboard }, titled("DemoDashboard", DEMO_DASHBOARD));

const SampleReply = closed({ ...CreateReply.properties, demo: Demo });

const SAMPLE_TTL_HOURS = 2;
/** Enough that two samples never get the same name. */
const NAME_BYTES = 5;

/** The insights dashboard's shape, from fixed data. */
const getDemoDashboard = route({
  endpoint: "GET /api/demos/dashboard",
  summary: "Get a demo dashboard",
  description: "The insights dashboard's shape, filled with fixed data: for building on it before there is any.",
  access: { permission: "insights:read" },
  envelope: "always",
  reply: DemoDashboard,
})(() => DEMO_DASHBOARD);

/** Creates a real environment, for two hours, of a Repository that the caller may use. */
const createSampleEnvironment = route({
  endpoint: "POST /api/demos/sample-environment",
  summary: "Create a sample environment",
  description:
    "Creates an environment of the first backend repository (by name) that the caller may use and whose quota has room, from its default branch, for two hours.",
  access: { permission: "environments:create" },
  auditTarget: () => "a sample environment",
  reply: SampleReply,
  links: { "/api/environments/{environment_id}": "/environment/id" },
  errors: ["ENV_NAME_EXISTS", "ENV_CONFIG_INVALID", "ENV_REPO_NOT_FOUND", "ENV_CREATION_FAILED", "conflict"],
})(async ({ caller }, services) => {
  const { settings, randomBytes } = services;
  const repository = sampleRepository(caller, services);
  const body = {
    environment_name: `demo-${Buffer.from(randomBytes(NAME_BYTES)).toString("hex")}`,
    backend_repo: repository.metadata.name,
    backend_branch: branchOf(repository),
    ttl: Math.min(SAMPLE_TTL_HOURS, settings.ttl.maximumHours),
  };
  const environment = await createFromRequest({ body, caller, key: undefined }, services);
  return { status: "success", environment: toCreated(environment, settings), demo: true };
});

/** First one with room in its quota, else the first, whose quota is the reason of the error. */
function sampleRepository(caller: Caller, services: Services): Repository {
  const fit = services.repositories.list().filter((repository) => isUsable(repository, caller) && isFit(repository));
  const sorted = fit.sort(byName);
  const chosen = sorted.find((repository) => services.quotas.hasRoom(repository)) ?? sorted[0];
  if (chosen !== undefined) return chosen;
  throw new ConfigInvalid([{ field: "", message: "there is no backend repository that you may use: register one" }]);
}

/** True when its default branch can become an environment, by the last check. */
function isFit({ spec, status }: Repository): boolean {
  const isBranchThere = findCondition(status?.conditions, "Ready")?.reason !== "BranchNotFound";
  return spec.type === "backend" && status?.reachable !== false && isBranchThere;
}

export const demoRoutes = feature("demos", { getDemoDashboard, createSampleEnvironment });
