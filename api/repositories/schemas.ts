import { type Static, Type } from "typebox";
import { SECRET_KINDS } from "../../crds/repository/repository.schema.ts";
import { CREATE_ACTIONS, DELETE_ACTIONS, NOTIFIED_EVENTS } from "../../crds/repository/webhook-rules.schema.ts";
import { closed, literals } from "../../crds/schema.ts";
import { Instant, idPath, orNull, titled } from "../schemas/fields.ts";
import { pageOf } from "../schemas/page.ts";

export const RepositoryPath = idPath("The repository's id: its name.", "shop-api");

const Chart = closed(
  {
    repo_url: Type.String({ description: "A git repository, a Helm repository, or an OCI registry (oci://…)." }),
    path: Type.String({
      description: "The folder in the git repository; the name of the chart in a Helm repository or an OCI registry.",
    }),
    revision: Type.String({
      description:
        "A branch, tag or commit, or {commit}: the commit of the environment's backend; the version in a Helm repository or an OCI registry.",
    }),
  },
  { title: "ChartSource", description: "The chart that its environments are made with; backend repositories only." },
);
export type ChartReport = Static<typeof Chart>;
export { Chart as ChartReport };

const Secret = closed(
  { name: Type.String(), kind: literals(SECRET_KINDS), length: Type.Integer() },
  { title: "GeneratedSecret", description: "A variable whose value is generated for each environment." },
);

const PullRequest = closed(
  {
    enabled: Type.Boolean(),
    create_on: Type.Array(literals(CREATE_ACTIONS)),
    delete_on: Type.Array(literals(DELETE_ACTIONS)),
    skip_draft: Type.Boolean(),
    required_labels: Type.Array(Type.String()),
    branch_pattern: orNull(Type.String(), "RE2, for the whole name of the head branch; null: every branch."),
    ttl_hours: orNull(Type.Integer(), "null: as the config set says, else 24."),
    config_set: orNull(Type.String(), "null: the default one, if there is one."),
    forks: literals(["deny", "approve"]),
  },
  { title: "PullRequestRules", description: "Pull requests that get environments." },
);

const Pipeline = closed(
  { create_on_success: Type.Boolean(), on_canceled: literals(["own", "any", "ignore"]) },
  { title: "PipelineRules", description: "Rules for environments of pipelines." },
);

const Notify = closed(
  {
    chat_channel: orNull(Type.String(), "null: none of its own."),
    on: Type.Array(literals(NOTIFIED_EVENTS)),
  },
  { title: "NotificationRules", description: "Events, and the recipients of their messages." },
);

export const RepositoryReport = closed(
  {
    id: Type.String({ description: "Name." }),
    name: Type.String(),
    type: literals(["backend", "frontend"]),
    provider: orNull(literals(["repohost", "pipelinehost"]), "Kind of its host; null: not set."),
    host_id: orNull(Type.String(), "Number at the host; null: not set."),
    full_name: orNull(Type.String(), "Name at the host, with the owner's; null: not set."),
    clone_url: Type.String({ description: "Never with credentials." }),
    default_branch: Type.String(),
    chart: Type.Optional(Chart),
    image: closed({
      repository: Type.String(),
      tag_template: Type.String({
        description:
          "{commit}, {commit:N}, {mergeCommit}, {mergeCommit:N}, {short}, {branch}, {pullRequest} and {pipeline} stand for what is deployed.",
      }),
    }),
    port: Type.Integer(),
    health_path: Type.String(),
    secrets: Type.Array(Secret),
    overridable: Type.Array(Type.String(), {
      description: "Paths of the chart's values that config_overrides may name, beside env, replicas and resources.",
    }),
    companion_repo: orNull(Type.String(), "The repository that completes environments of its pull requests."),
    max_environments: orNull(Type.Integer(), "null: any number."),
    access: closed(
      { groups: Type.Array(Type.String()) },
      { description: "The groups whose members may use it; everyone when empty." },
    ),
    pull_request: PullRequest,
    pipeline: Pipeline,
    notify: Notify,
    reachable: orNull(Type.Boolean(), "True when its host answered at the last check; null: not checked yet."),
    last_checked_at: orNull(Instant, "null: not checked yet."),
  },
  titled("Repository", {
    id: "shop-api",
    name: "shop-api",
    type: "backend",
    provider: "repohost",
    host_id: "4711",
    full_name: "shop/shop-api",
    clone_url: "https://git.example.com/shop/shop-api.git",
    default_branch: "main",
    chart: { repo_url: "https://git.example.com/platform/charts.git", path: "environment", revision: "main" },
    image: { repository: "registry.example.com/shop/shop-api", tag_template: "{commit}" },
    port: 8080,
    health_path: "/healthz",
    secrets: [{ name: "SECRET_KEY", kind: "key", length: 64 }],
    overridable: ["backend.cache.size"],
    companion_repo: "shop-web",
    max_environments: 20,
    access: { groups: ["developers"] },
    pull_request: {
      enabled: true,
      create_on: ["opened", "reopened", "synchronize"],
      delete_on: ["closed", "merged"],
      skip_draft: true,
      required_labels: ["preview"],
      branch_pattern: "(feature|fix)/.+",
      ttl_hours: 48,
      config_set: "web",
      forks: "deny",
    },
    pipeline: { create_on_success: true, on_canceled: "own" },
    notify: { chat_channel: "#shop", on: ["ready", "failed"] },
    reachable: true,
    last_checked_at: "2026-06-01T12:00:00.000Z",
  }),
);
export type RepositoryReport = Static<typeof RepositoryReport>;
export const RepositoryPage = pageOf(RepositoryReport, { title: "RepositoryPage" });

const Ids = (description: string) => Type.Array(Type.String(), { description });

export const ReloadReport = closed(
  {
    loaded: Type.Integer({ description: "Number of valid ones." }),
    added: Ids("Valid now, and absent at the reload before."),
    updated: Ids("Valid now, and changed since the reload before."),
    removed: Ids("No longer registered."),
    errors: Type.Array(closed({ id: Type.String(), message: Type.String() }), {
      description: "Repositories with an error; they stay as they were.",
    }),
  },
  titled("RepositoryReload", {
    loaded: 3,
    added: ["shop-web"],
    updated: [],
    removed: [],
    errors: [{ id: "shop-api", message: "there is no branch 'main': push it, or correct spec.defaultBranch" }],
  }),
);
export type ReloadReport = Static<typeof ReloadReport>;
