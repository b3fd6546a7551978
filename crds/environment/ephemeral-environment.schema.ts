import { type Static, Type } from "typebox";
import { CopySource } from "../database-copy.schema.ts";
import { NAME_RULES, type NamedKind } from "../names.ts";
import { ComponentOverrides, ValueOverride, Variable } from "../overrides.schema.ts";
import { Branch, branchRules } from "../repository/branches.ts";
import {
  type CelRule,
  COMMIT_PATTERN,
  Commit,
  described,
  Groups,
  literals,
  map,
  rules,
  TTL_MAX_HOURS,
  text,
  timestamp,
} from "../schema.ts";
import { Seed } from "../seed.schema.ts";
import { SleepWish } from "../sleep.schema.ts";
import { DESIRED_COMMIT_RULE, MOST_PIPELINES, PIPELINE_RULES, PIPELINES_RULES } from "./pipelines.ts";

const nameOf = (kind: string) => text(50, `Name of a ${kind}.`, { minLength: 1 });

export const PIPELINE_STATUSES = ["running", "success", "failed", "canceled"] as const;

const Pipeline = Type.Object(
  {
    project: text(200, "Full name of the project on its host; ids are compared within one project.", { minLength: 1 }),
    workflow: text(300, "The workflow that it is a run of; empty where its project has only one."),
    id: Type.Integer({ format: "int64", minimum: 1, description: "A higher id of one workflow is newer." }),
    attempt: Type.Optional(
      Type.Integer({ format: "int64", minimum: 0, description: "Number of its runs, where its host counts them." }),
    ),
    commit: text(64, "The full SHA of the commit that it builds.", { pattern: COMMIT_PATTERN, minLength: 40 }),
    status: literals(PIPELINE_STATUSES, { description: "The state that its host reported last." }),
    url: Type.Optional(text(512, "Page on the host, for people.", { pattern: "^https?://[^\\s]+$" })),
    at: timestamp("Time of this status; a running one counts as silent 2 hours later."),
  },
  {
    description: "The newest run of one workflow, as its host reported it.",
    ...rules(...PIPELINE_RULES.map(({ cel, message }) => ({ rule: cel, message }))),
  },
);
export type Pipeline = Static<typeof Pipeline>;

const Pipelines = Type.Array(Pipeline, {
  maxItems: MOST_PIPELINES,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["workflow"],
  description: "The pipelines of one commit of this component: all must succeed. Only set with the right to assign.",
  ...rules(...PIPELINES_RULES.map(({ cel, message }) => ({ rule: cel, message }))),
});

const sourceOf = (description: string) =>
  Type.Object(
    {
      repository: nameOf("Repository"),
      branch: described(Branch, "The git branch whose head is deployed, unless a commit is set."),
      commit: Type.Optional(
        described(Commit, "The full SHA to deploy. Empty: the head of the branch, resolved once for each branch."),
      ),
      mergeCommit: Type.Optional(
        Type.Object(
          {
            head: described(Commit, "The commit that it merges; it counts only while that is the one to deploy."),
            commit: described(Commit, "The full SHA of the merge."),
          },
          { description: "For {mergeCommit} of the tag: what merges the pull request into its base, for a test." },
        ),
      ),
      follow: Type.Optional(
        Type.Boolean({
          description:
            "Without a commit: follows pushes to the branch, and reads its head at every requested reconcile.",
        }),
      ),
      pipelines: Type.Optional(Pipelines),
    },
    {
      description,
      ...rules(
        ...branchRules("self.branch"),
        {
          rule: "!has(oldSelf.pipelines) || has(self.pipelines)",
          fieldPath: ".pipelines",
          message: "a recorded pipeline can't be removed: an older one could take its place",
        },
        { rule: DESIRED_COMMIT_RULE.cel, fieldPath: ".pipelines", message: DESIRED_COMMIT_RULE.message },
      ),
    },
  );

/** Rule for an immutable field. */
export const immutable = (field: string, message: string): CelRule => {
  const [parent, name] = field.includes(".") ? (field.split(".") as [string, string]) : [undefined, field];
  const has = (root: string) =>
    parent ? `(has(${root}.${parent}) && has(${root}.${parent}.${name}))` : `has(${root}.${name})`;
  return {
    rule: `${has("self")} == ${has("oldSelf")} && (!${has("self")} || self.${field} == oldSelf.${field})`,
    fieldPath: `.${field}`,
    message,
  };
};

/** Largest number of a database: as the end of a claim's name it has at most six digits. */
const DATABASE_GENERATION_MAX = 999_999;

const generates = (spec: string) =>
  `(!has(${spec}.secrets) || !has(${spec}.secrets.autoGenerate) || ${spec}.secrets.autoGenerate)`;

export const EnvironmentSpec = Type.Object(
  {
    ttlHours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: TTL_MAX_HOURS,
        description:
          "Hours from creation to deletion; when left out 24, or `ttl.maximumHours` of the settings where that is less.",
      }),
    ),
    backend: sourceOf("Source of the backend."),
    frontend: Type.Optional(sourceOf("Source of the frontend; without it the environment has none.")),
    database: Type.Optional(
      Type.Object(
        {
          provision: Type.Boolean({
            description: "True for a PostgreSQL; false removes it with all its data.",
          }),
          seed: Type.Optional(Seed),
          from: Type.Optional(CopySource),
          generation: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: DATABASE_GENERATION_MAX,
              description:
                "Number of the database, 1 when left out. Another one makes it anew: empty, with its seed, or with a new copy; the former data is deleted once the new database has taken its place.",
            }),
          ),
        },
        {
          description: "The config set decides when left out; the default is none.",
          ...rules(
            {
              rule: "!has(self.seed) || self.provision",
              fieldPath: ".seed",
              message: "a seed needs provision: true",
            },
            {
              rule: "!has(self.from) || self.provision",
              fieldPath: ".from",
              message: "a copy needs provision: true",
            },
            {
              rule: "!has(self.from) || !has(self.seed)",
              fieldPath: ".from",
              message: "a database begins with a seed or with a copy: leave one of them out",
            },
          ),
        },
      ),
    ),
    secrets: Type.Optional(
      Type.Object(
        {
          autoGenerate: Type.Optional(
            Type.Boolean({
              default: true,
              description: "False: every secret variable must be provided or referenced.",
            }),
          ),
          useSharedApiKeys: Type.Optional(
            Type.Boolean({ description: "Adds the shared API keys of the config set to the pods' secret." }),
          ),
          provided: Type.Optional(
            Type.Array(Variable, {
              maxItems: 50,
              "x-kubernetes-list-type": "set",
              description: "Variables whose values users write into the secret manager; they are never generated.",
            }),
          ),
          rotate: Type.Optional(
            map(Type.String({ minLength: 1, maxLength: 64 }), {
              maxProperties: 50,
              description: "By variable: any text; a changed text requests a new value, once.",
            }),
          ),
        },
        { description: "The secret variables of the environment's pods." },
      ),
    ),
    configSet: Type.Optional(
      Type.Object(
        {
          name: nameOf("ConfigSet"),
          version: Type.Optional(
            Type.Integer({
              minimum: 1,
              description: "A metadata.generation of the ConfigSet; the newest at the creation when left out.",
            }),
          ),
        },
        {
          description: "The defaults that the environment is made with; it keeps their version until this is changed.",
        },
      ),
    ),
    overrides: Type.Optional(
      Type.Object(
        {
          backend: Type.Optional(described(ComponentOverrides, "Overrides of the backend.")),
          frontend: Type.Optional(described(ComponentOverrides, "Overrides of the frontend.")),
          values: Type.Optional(
            Type.Array(ValueOverride, {
              maxItems: 50,
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["path"],
              description: "Single values of the chart.",
            }),
          ),
        },
        { description: "Overrides of the config set, which overrides the chart." },
      ),
    ),
    owner: Type.Optional(
      Type.Object(
        {
          subject: Type.String({
            minLength: 1,
            maxLength: 768,
            description: "<issuer>#<sub>; never the e-mail.",
          }),
          email: text(254, "E-mail address, for messages; it grants nothing."),
          name: text(254, "Name for people; it grants nothing."),
        },
        { description: "Only set with the right to assign environments; it grants rights." },
      ),
    ),
    access: Type.Optional(
      Type.Object({ groups: Groups }, { description: "Groups that may see and change it, beside its owner." }),
    ),
    trigger: Type.Optional(
      Type.Object(
        {
          kind: literals(["api", "pull_request", "pipeline", "manifest", "canary"], {
            description:
              "Cause of the creation: the REST interface, a pull request, a pipeline, a manifest in Git, or the platform for itself.",
          }),
          provider: Type.Optional(
            Type.String({
              maxLength: 63,
              description: "The id of the host in the settings; empty: the contract's own format.",
            }),
          ),
          repository: Type.Optional(Type.String({ maxLength: 200, description: "Name of the Repository." })),
          number: Type.Optional(Type.Integer({ minimum: 1, description: "Number of the pull request on its host." })),
          login: Type.Optional(text(128, "Name of the pull request's author on the host.")),
          delivery: Type.Optional(text(128, "Name of the WebhookDelivery that caused the creation.")),
        },
        { description: "Cause of the creation; it can't be changed." },
      ),
    ),
    protected: Type.Optional(Type.Boolean({ description: "Refuses deletion and expiry while true, without end." })),
    protectedUntil: Type.Optional(
      timestamp(
        "Refuses deletion and expiry until this time, whatever `protected` says. The operator removes it then, and an expired environment is deleted. The REST interface sets it to 168 hours after the expiry for callers who are no maintainers.",
      ),
    ),
    suspended: Type.Optional(
      Type.Boolean({ description: "Scales everything to zero while true; secrets and data stay." }),
    ),
    sleep: Type.Optional(SleepWish),
  },
  {
    description: "The desired state of the environment; users and the REST interface write it.",
    ...rules(
      immutable(
        "frontend.repository",
        "spec.frontend.repository, and whether there is a frontend at all, can't be changed after creation",
      ),
      {
        rule: "self.backend.repository == oldSelf.backend.repository",
        fieldPath: ".backend.repository",
        message: "spec.backend.repository can't be changed after creation",
      },
      {
        // True when left out, so other fields of `secrets` may be added later.
        rule: `${generates("self")} == ${generates("oldSelf")}`,
        fieldPath: ".secrets.autoGenerate",
        message: "spec.secrets.autoGenerate can't be changed after creation",
      },
      immutable("configSet.name", "spec.configSet.name can't be changed after creation; spec.configSet.version can"),
      immutable("trigger", "spec.trigger can't be changed after creation"),
    ),
  },
);
export type EnvironmentSpec = Static<typeof EnvironmentSpec>;

/** Rules for a kind's names; on the root, because only there CEL can read the name. */
export const nameRootRules = (kind: NamedKind): readonly CelRule[] =>
  NAME_RULES[kind].map(({ cel, message }) => ({
    rule: cel.replaceAll(/\bname\b/g, "self.metadata.name"),
    messageExpression: `"metadata.name '" + self.metadata.name + "' ${message.replaceAll('"', '\\"')}"`,
  }));

/** Rules for the root of an environment. */
export const environmentRootRules: readonly CelRule[] = [
  ...nameRootRules("environment"),
  {
    rule: "!has(self.spec.database) || !has(self.spec.database.from) || self.spec.database.from.environment != self.metadata.name",
    fieldPath: ".spec.database.from.environment",
    message: "a database can't be a copy of itself",
  },
];
