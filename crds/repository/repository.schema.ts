import { type Static, Type } from "typebox";
import { ChartValues } from "../chart-values/chart-values.schema.ts";
import { SecretRef, ValuePath } from "../overrides.schema.ts";
import { Conditions, described, Groups, literals, rules, text, timestamp, VARIABLE_PATTERN } from "../schema.ts";
import { Seed } from "../seed.schema.ts";
import { SleepWish } from "../sleep.schema.ts";
import { Branch, branchRules } from "./branches.ts";
import { CHART_CEL_RULES, type ChartSource, COMMIT_CHART_RULE } from "./chart-source.ts";
import { FurtherHosts } from "./further-hosts.schema.ts";
import { HEALTH_PATH_PATTERN } from "./health-path.ts";
import { HOST_ID_PATTERN, KnownHostRepository } from "./host-repository.schema.ts";
import { DEFAULT_TAG_TEMPLATE, TAG_TEMPLATE_RULES } from "./image-tag.ts";
import { Feedback, Notifications, PipelineRules, PullRequestRules } from "./webhook-rules.schema.ts";
import { Workloads } from "./workloads.schema.ts";

export const SECRET_KINDS = ["password", "key", "token", "uuid"] as const;
export type SecretKind = (typeof SECRET_KINDS)[number];

const GeneratedSecret = Type.Object({
  name: text(128, "The variable of the pods.", { pattern: VARIABLE_PATTERN }),
  kind: Type.Optional(
    literals(SECRET_KINDS, {
      default: "password",
      description:
        "The shape of the value. password: letters and digits; key: base64url bytes; token: hexadecimal digits; uuid: version 4.",
    }),
  ),
  length: Type.Optional(
    Type.Integer({ minimum: 16, maximum: 256, default: 32, description: "Characters; a uuid has its own length." }),
  ),
});

/** An escaped byte, %XX; without %, dot and slashes, which hosts decode at different times. */
const ESCAPED = "%([346-9A-Fa-f][0-9A-Fa-f]|2[0-46-9A-Da-d]|5[0-9ABD-Fabd-f])";

/** Repository or prefix of repositories on a registry; lower case, so no segment is only dots. */
const OCI_PLACE = "oci://[A-Za-z0-9._-]+(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*";

/**
 * URL of a chart; the same pattern as `policy.chartUrl` of the platform's chart, or an environment would wait for ever.
 * No login, which the application would show; no characters that Argo CD reads as a pattern; no segments of dots, with
 * which git leaves a folder.
 */
export const CHART_URL_PATTERN = `^(https?://[A-Za-z0-9._-]+(:[0-9]+)?(/([.]*([A-Za-z0-9_~:@+,=&-]|${ESCAPED})([A-Za-z0-9._~:@+,=&-]|${ESCAPED})*)?)*|${OCI_PLACE})$`;

/** Address without query and fragment, in which some programs find another host. */
const CloneUrl = text(512, "The http or https URL that git clones it from.", {
  pattern: "^https?://[^\\s/?#@\\\\]+(/[^\\s?#]*)?$",
});

/** A reference to a value in the secret manager. */
const SecretWith = (description: string) => Type.Optional(described(SecretRef, description));

/**
 * The source of a chart, one of three kinds, with what its values are mapped to and what it is read with. Its rules leave no
 * other combination of fields.
 */
export const Chart = Type.Unsafe<ChartSource & { readonly credentialsRef?: SecretRef; readonly values?: string }>(
  Type.Object(
    {
      repoUrl: Type.String({
        pattern: CHART_URL_PATTERN,
        maxLength: 512,
        description:
          "Source of the chart: a git repository or a Helm repository, by http or https, or an OCI registry with the folder of the chart, such as oci://registry.example.com/charts. Without a login, a query, a fragment, brackets, and segments that are only dots.",
      }),
      path: Type.Optional(text(255, "Folder of the chart in a git repository.")),
      revision: Type.Optional(
        text(
          255,
          "Branch, tag or commit of a git repository. {commit}: the commit of the environment's own backend, where repoUrl is the Repository's cloneUrl.",
          { minLength: 1 },
        ),
      ),
      chart: Type.Optional(
        text(128, "Name of the chart in a Helm repository or an OCI registry.", {
          pattern: "^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$",
        }),
      ),
      version: Type.Optional(
        text(128, "One exact version in a Helm repository or an OCI registry, such as 1.2.3.", { minLength: 1 }),
      ),
      credentialsRef: SecretWith(
        "The credential for a private place: user:password in the secret manager. The setting secrets.hostCredentials lists the hosts that it may be sent to.",
      ),
      values: Type.Optional(
        ChartValues(
          "The values of the chart, as YAML with references ${…} to facts of the platform, such as ${backend.image}. The platform's own layout when left out.",
        ),
      ),
    },
    rules(...CHART_CEL_RULES),
  ),
);
export type Chart = Static<typeof Chart>;

/** Passwords must not be sent over plain HTTP, except to this machine. */
const TRUSTED_URL_PATTERN = "^(https://|http://(127[.]0[.]0[.]1|\\\\[::1\\\\]|localhost)(:[0-9]+)?(/|$))";

/** Values of the platform's layout that it sets or that have a field of their own. */
export const RESERVED_PATH_PATTERN =
  "^(environment|database|secret|imagePullSecrets|suspended)([.]|$)|^(backend|frontend)($|[.](image|commit|pullPolicy|port|host|url|healthPath|env|replicas|resources)([.]|$))";
const SPECIAL_PATH_PATTERN = "(^|[.])(__proto__|constructor|prototype)([.]|$)";

export const RepositorySpec = Type.Object(
  {
    type: literals(["backend", "frontend"], { description: "Component of an environment that it becomes." }),
    cloneUrl: CloneUrl,
    provider: Type.Optional(
      literals(["repohost", "pipelinehost"], { description: "Read by webhooks: the kind of its host." }),
    ),
    host: Type.Optional(
      Type.String({
        pattern: "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$",
        maxLength: 63,
        description:
          "Read by webhooks: the id of its host in the settings, whose kind decides how webhooks are verified and read. None: the REST contract's own headers and bodies.",
      }),
    ),
    hostId: Type.Optional(
      Type.String({
        pattern: HOST_ID_PATTERN,
        maxLength: 19,
        description:
          "Read by webhooks: its id on the host, by which it is known when it is renamed. Left out: that of its first webhook, see status.hostRepository.",
      }),
    ),
    fullName: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$",
        maxLength: 200,
        description: "Read by webhooks: its full name on the host, such as shop/shop-api.",
      }),
    ),
    defaultBranch: Type.Optional(
      Type.Unsafe<string>({ ...Branch, default: "main", description: "The branch that is used where none is named." }),
    ),
    credentialsRef: SecretWith(
      "The credential for a private repository: user:password in the secret manager. The setting secrets.hostCredentials lists the hosts that it may be sent to.",
    ),
    chart: Type.Optional(
      described(
        Chart,
        "The Helm chart of its environments, of a git repository, a Helm repository or an OCI registry; only of a backend. The chart of the settings when left out.",
      ),
    ),
    workloads: Type.Optional(Workloads),
    image: Type.Object(
      {
        repository: text(255, "The container image without a tag.", {
          minLength: 1,
          pattern: "^[a-z0-9][a-z0-9._:/-]*$",
        }),
        tagTemplate: Type.Optional(
          Type.String({
            default: DEFAULT_TAG_TEMPLATE,
            minLength: 1,
            maxLength: 128,
            description:
              "The tag of a commit's image. {commit}: the whole SHA; {commit:N}: its first N digits, 7 to 40; {short}: the same as {commit:8}; {mergeCommit} and {mergeCommit:N}: of the commit that merges the pull request, for pipelines that build that one; {branch}: the branch, whatever a tag can't have in it as '-' (many in a row as one); {pullRequest}: the number of the pull request; {pipeline}: the id of the pipeline that built the commit.",
            ...rules(...TAG_TEMPLATE_RULES),
          }),
        ),
      },
      { description: "The container image that its pipeline builds." },
    ),
    imagePullSecretRef: SecretWith(
      "The credential for the registry of its image, as credentialsRef; pods pull with it.",
    ),
    port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65535,
        default: 8080,
        description: "The port that the container listens on.",
      }),
    ),
    healthPath: Type.Optional(
      text(255, "The path that answers when the component is ready.", { pattern: HEALTH_PATH_PATTERN, default: "/" }),
    ),
    hosts: Type.Optional(FurtherHosts),
    secrets: Type.Optional(
      Type.Array(GeneratedSecret, {
        maxItems: 50,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        description: "The secrets that are generated; DATABASE_PASSWORD, SECRET_KEY and API_TOKEN when left out.",
      }),
    ),
    overridable: Type.Optional(
      Type.Array(ValuePath, {
        maxItems: 50,
        "x-kubernetes-list-type": "set",
        description:
          "Paths of the chart's values that an environment may override, such as backend.cache.size; where the chart has values, paths of those, such as image.pullPolicy, but none that references decide.",
      }),
    ),
    maxEnvironments: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10_000,
        description: "The number of environments at a time; unlimited when left out. It limits only creation.",
      }),
    ),
    companionRepository: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 50,
        description: "The Repository of the other type that completes environments of its pull requests.",
      }),
    ),
    database: Type.Optional(
      Type.Object(
        {
          seed: Type.Optional(
            described(Seed, "The data that new databases begin with, where neither environment nor config set say it."),
          ),
        },
        { description: "The database of its environments, if they have one; only of a backend." },
      ),
    ),
    sleep: Type.Optional(SleepWish),
    pullRequest: Type.Optional(PullRequestRules),
    pipeline: Type.Optional(PipelineRules),
    notify: Type.Optional(Notifications),
    feedback: Type.Optional(Feedback),
    webhookSecretRef: SecretWith(
      "Read by webhooks: its own key in the secret manager, at least 32 bytes; the global ones when left out. A value that begins with whsec_ is a signing token of GitLab: the static token is refused then.",
    ),
    formerWebhookSecretRef: SecretWith(
      "The key before, which is accepted as well while its host is given the new one.",
    ),
    access: Type.Optional(
      Type.Object({ groups: Groups }, { description: "Groups that may use it; everyone when left out or empty." }),
    ),
  },
  {
    description: "The source of a component; maintainers write it.",
    ...rules(
      {
        rule: `!has(self.overridable) || self.overridable.all(path, !path.matches('${SPECIAL_PATH_PATTERN}'))`,
        fieldPath: ".overridable",
        message: "overridable names no path with __proto__, constructor or prototype",
      },
      {
        rule: `!has(self.overridable) || (has(self.chart) && has(self.chart.values)) || self.overridable.all(path, !path.matches('${RESERVED_PATH_PATTERN}'))`,
        fieldPath: ".overridable",
        message:
          "overridable names no path that the platform sets, nor env, replicas and resources: they have fields of their own",
      },
      {
        rule: `!has(self.credentialsRef) || self.cloneUrl.matches('${TRUSTED_URL_PATTERN}')`,
        fieldPath: ".credentialsRef",
        message: "credentials are sent by https only, or to this very machine: correct cloneUrl",
      },
      {
        rule: "self.type == 'backend' || !has(self.chart)",
        fieldPath: ".chart",
        message: "only a backend repository names a chart",
      },
      COMMIT_CHART_RULE,
      {
        rule: "self.type == 'backend' || !has(self.hosts)",
        fieldPath: ".hosts",
        message: "only a backend repository names hosts: its chart serves them",
      },
      {
        rule: "self.type == 'backend' || !has(self.database)",
        fieldPath: ".database",
        message: "only a backend repository has a seed of the database",
      },
      {
        rule: "self.type == 'backend' || !has(self.workloads)",
        fieldPath: ".workloads",
        message: "only a backend repository names workloads: its chart makes those of the frontend, too",
      },
      {
        rule: "self.type == 'backend' || !has(self.pullRequest) || !self.pullRequest.enabled || has(self.companionRepository)",
        fieldPath: ".companionRepository",
        message: "a frontend repository whose pull requests get environments names the backend repository of them",
      },
      ...branchRules("self.defaultBranch", true),
    ),
  },
);
export type RepositorySpec = Static<typeof RepositorySpec>;

export const RepositoryStatus = Type.Object(
  {
    observedGeneration: Type.Optional(
      Type.Integer({ format: "int64", description: "The metadata.generation that was checked last." }),
    ),
    reachable: Type.Optional(Type.Boolean({ description: "True when its host answered at the last check." })),
    lastCheckedAt: Type.Optional(timestamp("Time of the last check.")),
    lastHandledReconcileAt: Type.Optional(text(256, "The token of the last requested check.")),
    hostRepository: Type.Optional(
      described(
        KnownHostRepository,
        "Id and name from its host's newest webhook with a valid signature. Webhooks of another id are refused.",
      ),
    ),
    conditions: Type.Optional(Conditions),
  },
  { description: "Results of its host; only the operator writes them." },
);
export type RepositoryStatus = Static<typeof RepositoryStatus>;
