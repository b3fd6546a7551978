import { type Static, Type } from "typebox";
import { PHASES } from "../../crds/environment/environment-status.schema.ts";
import { GIT_OPS_TOOLS } from "../../crds/environment/managed-by.ts";
import { closed, literals, map, TTL_MAX_HOURS } from "../../crds/schema.ts";
import { CREATED_COST_EXAMPLE, ENVIRONMENT_COST_EXAMPLE } from "../costs/examples.ts";
import { EnvironmentCostReport } from "../costs/schemas.ts";
import { Instant, orNull, Success, titled } from "../schemas/fields.ts";
import { LoadedDatabaseSeed } from "../schemas/seed.ts";
import { SleepReport } from "../schemas/sleep.ts";

const EXAMPLE_ID = "3f0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10";

/** TTL of a request, in hours. */
export const Ttl = {
  minimum: 1,
  maximum: TTL_MAX_HOURS,
  "x-error-code": "ENV_TTL_EXCEEDED",
  description: "Hours from creation to deletion.",
};

export const ExtendRequest = closed(
  {
    ttl_hours: Type.Integer(Ttl),
    description: Type.Optional(Type.String({ maxLength: 500, description: "Reason; kept for the audit trail." })),
  },
  titled("ExtendEnvironmentRequest", { ttl_hours: 48, description: "Review takes longer" }),
);

export const EnvironmentPath = closed({
  environment_id: Type.String({
    minLength: 1,
    maxLength: 253,
    description: "The environment's id, in upper or lower case, or its name.",
    examples: ["shop-test"],
  }),
});

const Urls = closed(
  {
    backend: Type.String({ format: "uri" }),
    frontend: Type.Optional(Type.String({ format: "uri", description: "Absent without a frontend." })),
  },
  { title: "EnvironmentUrls" },
);
const ReportedUrls = closed(
  {
    ...Urls.properties,
    hosts: Type.Optional(
      map(Type.String({ format: "uri" }), {
        description:
          "The further hosts of the backend's repository, by name, as the operator saw them last; absent without any.",
      }),
    ),
  },
  { title: "EnvironmentReportUrls" },
);
const Creator = closed({ email: Type.String(), name: Type.String() }, { title: "Creator" });
const Status = literals(PHASES, { title: "EnvironmentStatus" });
const Ttls = Type.Integer({ minimum: 1, maximum: TTL_MAX_HOURS });
const Source = closed(
  { repo: Type.String(), branch: Type.String(), commit: Type.String() },
  { title: "EnvironmentSource" },
);

const example = {
  id: EXAMPLE_ID,
  name: "shop-test",
  status: "ready",
  urls: { backend: "https://shop-test--api.env.example.com", frontend: "https://shop-test.env.example.com" },
  created_at: "2026-06-01T12:00:00.000Z",
  expires_at: "2026-06-02T12:00:00.000Z",
};
const exampleUrls = { ...example.urls, hosts: { admin: "https://shop-test--admin.env.example.com" } };
const exampleCreator = { email: "dev@example.com", name: "Dev" };

const identity = { id: Type.String({ examples: [EXAMPLE_ID] }), name: Type.String(), status: Status, urls: Urls };
const lifetime = { expires_at: Instant, ttl_hours: Ttls };

const CREATED_EXAMPLE = { ...example, status: "creating", ttl_hours: 24 };
export const CreatedEnvironment = closed(
  { ...identity, created_at: Instant, ...lifetime },
  titled("CreatedEnvironment", CREATED_EXAMPLE),
);
export type CreatedEnvironment = Static<typeof CreatedEnvironment>;
export const CreateReply = closed({ status: Success, environment: CreatedEnvironment });

const CreatedReport = closed(
  { ...CreatedEnvironment.properties, cost: EnvironmentCostReport },
  titled("CreatedEnvironmentReport", { ...CREATED_EXAMPLE, cost: CREATED_COST_EXAMPLE }),
);
export const CreateReportReply = closed({ status: Success, environment: CreatedReport });

export const ListedEnvironment = closed(
  { ...identity, created_at: Instant, expires_at: Instant, creator: Creator },
  titled("ListedEnvironment", { ...example, creator: exampleCreator }),
);
export type ListedEnvironment = Static<typeof ListedEnvironment>;
const page = {
  total: Type.Integer({ description: "Number of matches on all pages." }),
  limit: Type.Integer({ examples: [50] }),
  offset: Type.Integer({ examples: [0] }),
};
export const ListReply = closed({ environments: Type.Array(ListedEnvironment), ...page });

const Progress = closed(
  {
    done: Type.Integer({ minimum: 0, description: "Number of finished steps." }),
    total: Type.Integer({ minimum: 0, description: "Number of known steps: none before the first reconcile." }),
    waiting_for: Type.Union([Type.String(), Type.Null()], {
      description: "The type of the first condition that is not True; null when all are.",
    }),
  },
  { title: "EnvironmentProgress" },
);
const ProtectedUntil = Type.Union([Instant, Type.Null()], {
  description:
    "End of the protection; an environment that is expired by then is deleted. null: it is not protected, or without end.",
});
const LISTED_REPORT_EXAMPLE = {
  ...example,
  creator: exampleCreator,
  protected: false,
  protected_until: null,
  suspended: false,
  sleep: null,
  urls: exampleUrls,
  repositories: { backend: { repo: "shop-api", branch: "main", commit: "9f2c1d4e8f5a4a399d0b6a1f6c1f7f1011223344" } },
  progress: { done: 7, total: 7, waiting_for: null },
};

/** Listed environment in version 2. */
export const ListedReport = closed(
  {
    ...ListedEnvironment.properties,
    urls: ReportedUrls,
    protected: Type.Boolean(),
    protected_until: ProtectedUntil,
    suspended: Type.Boolean(),
    sleep: SleepReport,
    repositories: closed({ backend: Source, frontend: Type.Optional(Source) }),
    progress: Progress,
  },
  titled("ListedEnvironmentReport", LISTED_REPORT_EXAMPLE),
);
export type ListedReport = Static<typeof ListedReport>;
export const ListReportReply = closed({ environments: Type.Array(ListedReport), ...page });

const ENVIRONMENT_EXAMPLE = {
  ...example,
  updated_at: "2026-06-01T12:00:04.000Z",
  ttl_hours: 24,
  creator: exampleCreator,
  repositories: {
    backend: { repo: "shop-api", branch: "main", commit: "9f2c1d4e8f5a4a399d0b6a1f6c1f7f1011223344" },
    frontend: { repo: "shop-web", branch: "main", commit: "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567" },
  },
  cluster: { namespace: "env-shop-test", deployer_app: "env-shop-test" },
  configuration: { config_set: "", database_provisioned: false, auto_generated_secrets: true },
};

export const EnvironmentDetail = closed(
  {
    ...identity,
    created_at: Instant,
    updated_at: Instant,
    ...lifetime,
    creator: Creator,
    repositories: closed({ backend: Source, frontend: Type.Optional(Source) }),
    cluster: closed({ namespace: Type.String(), deployer_app: Type.String() }),
    configuration: closed({
      config_set: Type.String(),
      database_provisioned: Type.Boolean(),
      auto_generated_secrets: Type.Boolean(),
    }),
  },
  titled("Environment", ENVIRONMENT_EXAMPLE),
);
export type EnvironmentDetail = Static<typeof EnvironmentDetail>;

export const EnvironmentLifetime = closed(
  { id: Type.String(), ...lifetime },
  titled("EnvironmentLifetime", { id: EXAMPLE_ID, expires_at: "2026-06-03T12:00:00.000Z", ttl_hours: 48 }),
);
export type EnvironmentLifetime = Static<typeof EnvironmentLifetime>;
export const ExtendReply = closed({ status: Success, environment: EnvironmentLifetime });

export const MessageReply = closed({
  status: Success,
  message: Type.String({ examples: ["Deletion of environment 'shop-test' initiated"] }),
});

const ConditionReport = closed(
  {
    type: Type.String(),
    status: literals(["True", "False", "Unknown"]),
    reason: Type.String({ description: "Stable, for programs." }),
    message: Type.String({ description: "The cause and what to do about it, for people." }),
    last_transition_time: Instant,
  },
  { title: "EnvironmentCondition" },
);

/** Detail in version 2. */
export const EnvironmentReport = closed(
  {
    ...EnvironmentDetail.properties,
    urls: ReportedUrls,
    protected: Type.Boolean(),
    protected_until: ProtectedUntil,
    suspended: Type.Boolean(),
    database_seed: orNull(LoadedDatabaseSeed, "The seed that its database was made with; null: none, or not yet."),
    database_from: Type.Union([Type.String(), Type.Null()], {
      description: "Name of the environment that its database is a copy of; null: none, or not yet.",
    }),
    sleep: SleepReport,
    managed_by: Type.Union([literals(GIT_OPS_TOOLS), Type.Null()], {
      description: "The GitOps tool that keeps the environment as its manifest in Git has it; null: none.",
    }),
    observed: Type.Boolean({
      description:
        "True when `status` and `conditions` describe the current request; false from a change on until the operator has seen it.",
    }),
    conditions: Type.Array(ConditionReport, {
      description:
        "Progress of each step; Ready sums them up; Suspended, Asleep, PipelineSilent, SourceGone and ExpiryRefused exist only while they are true.",
    }),
    cost: EnvironmentCostReport,
  },
  titled("EnvironmentReport", {
    ...ENVIRONMENT_EXAMPLE,
    urls: exampleUrls,
    protected: false,
    protected_until: null,
    suspended: false,
    database_seed: null,
    database_from: null,
    sleep: null,
    managed_by: null,
    observed: true,
    conditions: [
      {
        type: "Ready",
        status: "True",
        reason: "Ready",
        message: "Every URL answers",
        last_transition_time: "2026-06-01T12:02:20.000Z",
      },
    ],
    cost: ENVIRONMENT_COST_EXAMPLE,
  }),
);
export type EnvironmentReport = Static<typeof EnvironmentReport>;
