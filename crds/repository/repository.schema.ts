import { type Static, Type } from "typebox";
import { nameRootRules, SecretRef, ValuePath } from "../environment/ephemeral-environment.schema.ts";
import { TTL_MAX_HOURS } from "../environment/ttl.ts";
import { Conditions, Groups, literals, rules, Timestamp, VARIABLE_PATTERN } from "../schema.ts";
import { BRANCH_RULES, Branch } from "./branches.ts";

export const SECRET_KINDS = ["password", "key", "token", "uuid"] as const;
/** The shape of a generated value: `password` letters and digits, `key` base64url bytes, `token` hex, `uuid` version 4. */
export type SecretKind = (typeof SECRET_KINDS)[number];

const GeneratedSecret = Type.Object({
  name: Type.String({ pattern: VARIABLE_PATTERN, maxLength: 128, description: "The variable the pods see." }),
  kind: Type.Optional(literals(SECRET_KINDS, { default: "password" })),
  length: Type.Optional(
    Type.Integer({ minimum: 16, maximum: 256, default: 32, description: "Characters; a uuid has its own length." }),
  ),
});

/** Never two slashes in a row: `//host/` would be read as another host. No nested repetition that backtracks for ever. */
export const HEALTH_PATH_PATTERN = "^/([A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*/?)?$";

/** A byte that a URL may spell as %XX; not %, dot and the slashes, which hosts spell out at different moments. */
const ESCAPED = "%([346-9A-Fa-f][0-9A-Fa-f]|2[0-46-9A-Da-d]|5[0-9ABD-Fabd-f])";

/**
 * Where charts are, as the platform chart's policy on projects has it, too (`policy.chartUrl`): what one admits and the other
 * refuses, an environment would wait for. Without a login before its host, which everybody who sees the application could
 * read; without what Argo CD reads as a pattern; and without segments of dots, by which git leaves a folder.
 */
export const CHART_URL_PATTERN = `^https?://[A-Za-z0-9._-]+(:[0-9]+)?(/([.]*([A-Za-z0-9_~:@+,=&-]|${ESCAPED})([A-Za-z0-9._~:@+,=&-]|${ESCAPED})*)?)*$`;

/** The address of a repository is all path: what a query or a fragment hides is read as another host by some. */
const CloneUrl = Type.String({ pattern: "^https?://[^\\s/?#@\\\\]+(/[^\\s?#]*)?$", maxLength: 512 });

/** A chart that turns an environment's values into its objects. */
export const ChartSource = Type.Object({
  repoUrl: Type.String({
    pattern: CHART_URL_PATTERN,
    maxLength: 512,
    description:
      "The git repository of the chart, by http or https: without a login, a query, a fragment, brackets, and segments that are only dots.",
  }),
  path: Type.String({ maxLength: 255, description: "Folder of the chart in the repository." }),
  revision: Type.String({ minLength: 1, maxLength: 255, description: "Branch, tag or commit." }),
});
export type ChartSource = Static<typeof ChartSource>;

const Name = { minLength: 1, maxLength: 50 };

export const CREATE_ACTIONS = ["opened", "reopened", "synchronize", "ready_for_review", "labeled"] as const;
export const DELETE_ACTIONS = ["closed", "merged"] as const;
export const NOTIFIED_EVENTS = ["created", "ready", "failed", "updated", "deleted"] as const;

/** Passwords over plain HTTP could be read by anybody on the way, except on this machine. */
const TRUSTED_URL_PATTERN = "^(https://|http://(127[.]0[.]0[.]1|\\\\[::1\\\\]|localhost)(:[0-9]+)?(/|$))";

/** A credential of a host, as the secret manager has it: `user:password`. */
const CredentialRef = (description: string) => Type.Optional(Type.Unsafe<SecretRef>({ ...SecretRef, description }));

/** A list of words, each once. */
const words = <const T extends readonly string[]>(values: T, options: object = {}) =>
  Type.Array(literals(values), { maxItems: values.length, "x-kubernetes-list-type": "set", ...options });

/** What the API server can't compile as RE2 fails the rule, and is refused; one that it can is fine whether it matches or not. */
const IS_PATTERN = "''.matches(self) ? true : true";

const PullRequestRules = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ default: false, description: "Whether pull requests get environments." })),
    createOn: Type.Optional(
      words(CREATE_ACTIONS, { description: "The actions that may create one; all when left out." }),
    ),
    deleteOn: Type.Optional(
      words(DELETE_ACTIONS, { description: "closed: without a merge. The ends that delete it; both when left out." }),
    ),
    skipDraft: Type.Optional(Type.Boolean({ default: false, description: "Drafts get none." })),
    requiredLabels: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        maxItems: 20,
        "x-kubernetes-list-type": "set",
        description: "Pull requests that lack one of them get none.",
      }),
    ),
    branchPattern: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: "Which head branches get one: an RE2 expression for the whole name. All when left out.",
        ...rules({ rule: IS_PATTERN, message: "is no RE2 expression" }),
      }),
    ),
    ttlHours: Type.Optional(Type.Integer({ minimum: 1, maximum: TTL_MAX_HOURS })),
    configSet: Type.Optional(Type.String({ ...Name, description: "Name of a ConfigSet." })),
    forks: Type.Optional(
      literals(["deny", "approve"], {
        default: "deny",
        description: "Pull requests of forks: none, or those that a maintainer approves, commit by commit.",
      }),
    ),
  },
  {
    description: "Read by webhooks: which pull requests get environments.",
  },
);
export type PullRequestRules = Static<typeof PullRequestRules>;

const PipelineRules = Type.Object(
  {
    createOnSuccess: Type.Optional(
      Type.Boolean({ default: true, description: "A successful pipeline makes an environment where there is none." }),
    ),
    onCanceled: Type.Optional(
      literals(["own", "any", "ignore"], {
        default: "own",
        description: "What a canceled one deletes: the environment it made, all of its project and branch, or none.",
      }),
    ),
  },
  { description: "Read by webhooks: what pipelines do." },
);

const Notifications = Type.Object(
  {
    chatChannel: Type.Optional(Type.String({ minLength: 1, maxLength: 80 })),
    // Not `on`, as REST has it: YAML 1.1 reads that as true.
    events: Type.Optional(words(NOTIFIED_EVENTS, { description: "All when left out." })),
  },
  { description: "Read by webhooks: what is told where." },
);

/** What the platform sets in a component's values, what has a field of its own, and what JavaScript could trip over. */
const RESERVED_PATH_PATTERN =
  "^[a-z]+[.](image|port|host|url|healthPath|env|replicas|resources)([.]|$)|[.](__proto__|constructor|prototype)([.]|$)";

export const RepositorySpec = Type.Object(
  {
    type: literals(["backend", "frontend"], { description: "Which component of an environment it becomes." }),
    cloneUrl: CloneUrl,
    provider: Type.Optional(
      literals(["repohost", "pipelinehost"], { description: "Read by webhooks: which kind of host speaks of it." }),
    ),
    hostId: Type.Optional(
      Type.String({ pattern: "^[1-9][0-9]{0,18}$", maxLength: 19, description: "Read by webhooks: its number there." }),
    ),
    fullName: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$",
        maxLength: 200,
        description: "Read by webhooks: its name there, with the owner's, such as shop/shop-api.",
      }),
    ),
    defaultBranch: Type.Optional(Type.Unsafe<string>({ ...Branch, default: "main" })),
    credentialsRef: CredentialRef(
      "What its host is asked with, where not everybody may read it: user:password in the secret manager. The setting secrets.hostCredentials says which hosts it may be sent to.",
    ),
    chart: Type.Optional(ChartSource),
    image: Type.Object({
      repository: Type.String({ minLength: 1, maxLength: 255, pattern: "^[a-z0-9][a-z0-9._:/-]*$" }),
      tagTemplate: Type.Optional(
        Type.String({
          default: "{commit}",
          maxLength: 128,
          pattern: "^[A-Za-z0-9._{}-]+$",
          description:
            "{commit}: the whole SHA, {short}: its first 8 digits, {branch}: the branch, whatever a tag can't have in it as '-' (many in a row as one).",
        }),
      ),
    }),
    imagePullSecretRef: CredentialRef(
      "What the registry of its image is asked with, as credentialsRef; pods pull with it.",
    ),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535, default: 8080 })),
    healthPath: Type.Optional(Type.String({ pattern: HEALTH_PATH_PATTERN, maxLength: 255, default: "/" })),
    secrets: Type.Optional(
      Type.Array(GeneratedSecret, {
        maxItems: 50,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        description:
          "What is generated for the environment; DATABASE_PASSWORD, SECRET_KEY and API_TOKEN when left out.",
      }),
    ),
    overridable: Type.Optional(
      Type.Array(ValuePath, {
        maxItems: 50,
        "x-kubernetes-list-type": "set",
        description: "Paths of the chart's values that an environment may override, such as backend.cache.size.",
      }),
    ),
    maxEnvironments: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10_000,
        description:
          "How many environments are made of it at a time, by whomever; any number when left out. It limits creation alone.",
      }),
    ),
    companionRepository: Type.Optional(
      Type.String({
        ...Name,
        description: "The Repository of the other type that completes environments of its pull requests.",
      }),
    ),
    pullRequest: Type.Optional(PullRequestRules),
    pipeline: Type.Optional(PipelineRules),
    notify: Type.Optional(Notifications),
    webhookSecretRef: Type.Optional(
      Type.Unsafe<Static<typeof SecretRef>>({
        ...SecretRef,
        description: "Read by webhooks: where the secret manager has the key of its own; the global one when left out.",
      }),
    ),
    access: Type.Optional(
      Type.Object({ groups: Groups }, { description: "Who may use it; everybody when left out or empty." }),
    ),
  },
  rules(
    {
      rule: `!has(self.overridable) || self.overridable.all(path, !path.matches('${RESERVED_PATH_PATTERN}'))`,
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
    {
      rule: "self.type == 'backend' || !has(self.pullRequest) || !self.pullRequest.enabled || has(self.companionRepository)",
      fieldPath: ".companionRepository",
      message: "a frontend repository whose pull requests get environments names the backend repository of them",
    },
    ...BRANCH_RULES.map(({ cel, message }) => ({
      rule: `!has(self.defaultBranch) || ${cel("self.defaultBranch")}`,
      fieldPath: ".defaultBranch",
      message: `a branch ${message}`,
    })),
  ),
);
export type RepositorySpec = Static<typeof RepositorySpec>;

export const RepositoryStatus = Type.Object({
  observedGeneration: Type.Optional(Type.Integer({ format: "int64" })),
  reachable: Type.Optional(Type.Boolean({ description: "Whether its host answered when it was asked last." })),
  lastCheckedAt: Type.Optional(Timestamp),
  lastHandledReconcileAt: Type.Optional(Type.String({ maxLength: 256, description: "The last request for a check." })),
  conditions: Type.Optional(Conditions),
});
export type RepositoryStatus = Static<typeof RepositoryStatus>;

export const repositoryRootRules = nameRootRules("repository");
