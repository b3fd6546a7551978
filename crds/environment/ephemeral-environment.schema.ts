import { type Static, Type } from "typebox";
import { NAME_RULES, type NamedKind } from "../names.ts";
import { QUANTITY_PATTERN } from "../quantity.ts";
import { BRANCH_RULES, Branch } from "../repository/branches.ts";
import {
  type CelRule,
  COMMIT_PATTERN,
  Commit,
  Groups,
  literals,
  map,
  rules,
  SECRET_ID_PATTERN,
  SECRET_KEY_PATTERN,
  Timestamp,
  VARIABLE_PATTERN,
} from "../schema.ts";
import { PIPELINE_RULES, WANTED_PIPELINE_RULE } from "./pipelines.ts";
import { TTL_MAX_HOURS } from "./ttl.ts";

const nameOf = (kind: string) => Type.String({ minLength: 1, maxLength: 50, description: `Name of a ${kind}.` });

const branchRules: CelRule[] = BRANCH_RULES.map(({ cel, message }) => ({
  rule: cel("self.branch"),
  fieldPath: ".branch",
  message: `a branch ${message}`,
}));

export const PIPELINE_STATUSES = ["running", "success", "failed", "canceled"] as const;

const Pipeline = Type.Object(
  {
    project: Type.String({ minLength: 1, maxLength: 200 }),
    id: Type.Integer({ format: "int64", minimum: 1, description: "A higher one is newer." }),
    commit: Type.String({ maxLength: 64, pattern: COMMIT_PATTERN, minLength: 40 }),
    status: literals(PIPELINE_STATUSES),
    url: Type.Optional(Type.String({ maxLength: 512, pattern: "^https?://[^\\s]+$" })),
    at: Type.String({
      ...Timestamp,
      description: "When it got this status; one that runs counts as silent 2 hours later.",
    }),
  },
  {
    description: "The newest pipeline of this component, as its host reported it; set by those who may assign.",
    ...rules(...PIPELINE_RULES.map(({ cel, message }) => ({ rule: cel, message }))),
  },
);
export type Pipeline = Static<typeof Pipeline>;

const Source = Type.Object(
  {
    repository: nameOf("Repository"),
    branch: Branch,
    commit: Type.Optional(
      Type.Unsafe<Static<typeof Commit>>({
        ...Commit,
        description: "Empty: the head of the branch, settled once for each branch.",
      }),
    ),
    follow: Type.Optional(
      Type.Boolean({
        description:
          "Without a commit: moves with pushes to the branch, and asks for its head whenever a pass is asked for.",
      }),
    ),
    pipeline: Type.Optional(Pipeline),
  },
  rules(
    ...branchRules,
    {
      rule: "!has(oldSelf.pipeline) || has(self.pipeline)",
      fieldPath: ".pipeline",
      message: "a recorded pipeline can't be removed: an older one could take its place",
    },
    { rule: WANTED_PIPELINE_RULE.cel, fieldPath: ".pipeline", message: WANTED_PIPELINE_RULE.message },
  ),
);

/** A name that Kubernetes, a shell and every language take for an environment variable. */
export const Variable = Type.String({ minLength: 1, maxLength: 128, pattern: VARIABLE_PATTERN });

/** A process's environment can hold everything but a NUL. */
export const PLAIN_VALUE_PATTERN = "^[^\\x00]*$";

/** Which value of the secret manager is meant. */
export const SecretRef = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255, pattern: SECRET_ID_PATTERN }),
    key: Type.String({
      maxLength: 10,
      pattern: SECRET_KEY_PATTERN,
      description: "A version, or latest: the newest when it is resolved.",
    }),
  },
  { description: "A secret of the secret manager that this environment owns or that the settings share." },
);
export type SecretRef = Static<typeof SecretRef>;

const EnvironmentVariable = Type.Object(
  {
    name: Variable,
    value: Type.Optional(Type.String({ maxLength: 4096, pattern: PLAIN_VALUE_PATTERN })),
    secretRef: Type.Optional(SecretRef),
  },
  rules({
    rule: "has(self.value) != has(self.secretRef)",
    message: "a variable has either a value or a secretRef",
  }),
);
export type EnvironmentVariable = Static<typeof EnvironmentVariable>;

/** Variables by name, at most one of each. */
export const EnvironmentVariables = Type.Array(EnvironmentVariable, {
  maxItems: 100,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
});

export const Amount = Type.String({ maxLength: 32, pattern: QUANTITY_PATTERN });
const Amounts = Type.Object({ cpu: Type.Optional(Amount), memory: Type.Optional(Amount) });

/** What may be set of a component, whatever its chart. */
export const ComponentOverrides = Type.Object({
  env: Type.Optional(EnvironmentVariables),
  replicas: Type.Optional(Type.Integer({ minimum: 0, maximum: 20 })),
  resources: Type.Optional(Type.Object({ requests: Type.Optional(Amounts), limits: Type.Optional(Amounts) })),
});
export type ComponentOverrides = Static<typeof ComponentOverrides>;

/** A place in the chart's values, from the component down. */
export const ValuePath = Type.String({ maxLength: 255, pattern: "^(backend|frontend)(\\.[A-Za-z0-9_-]{1,63}){1,8}$" });

const ValueOverride = Type.Object({
  path: Type.Unsafe<string>({
    ...ValuePath,
    description: "One of the paths that a Repository of the environment lists as overridable.",
  }),
  value: Type.String({ maxLength: 4096, description: "A scalar, written as JSON." }),
});
export type ValueOverride = Static<typeof ValueOverride>;

/** A field that may be set when the resource is made and never after: neither changed, nor removed, nor added. */
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
    backend: Source,
    frontend: Type.Optional(Source),
    database: Type.Optional(
      Type.Object(
        {
          provision: Type.Boolean({
            description: "Whether it has a PostgreSQL of its own; false removes one with all its data.",
          }),
        },
        { description: "As the config set says, else none, when left out." },
      ),
    ),
    secrets: Type.Optional(
      Type.Object({
        autoGenerate: Type.Optional(
          Type.Boolean({ default: true, description: "False: every secret variable must be provided or referenced." }),
        ),
        useSharedApiKeys: Type.Optional(
          Type.Boolean({ description: "Adds the shared API keys of the config set to the pods' secret." }),
        ),
        provided: Type.Optional(
          Type.Array(Variable, {
            maxItems: 50,
            "x-kubernetes-list-type": "set",
            description: "Variables whose values somebody writes into the secret manager; they are never generated.",
          }),
        ),
        rotate: Type.Optional(
          map(Type.String({ minLength: 1, maxLength: 64 }), {
            maxProperties: 50,
            description: "By variable: any text; another one than before asks for a new value, once.",
          }),
        ),
      }),
    ),
    configSet: Type.Optional(
      Type.Object({ name: nameOf("config set"), version: Type.Optional(Type.Integer({ minimum: 1 })) }),
    ),
    overrides: Type.Optional(
      Type.Object(
        {
          backend: Type.Optional(ComponentOverrides),
          frontend: Type.Optional(ComponentOverrides),
          values: Type.Optional(
            Type.Array(ValueOverride, {
              maxItems: 50,
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["path"],
            }),
          ),
        },
        { description: "Wins over the config set, which wins over the chart." },
      ),
    ),
    owner: Type.Optional(
      Type.Object(
        {
          subject: Type.String({
            minLength: 1,
            maxLength: 768,
            description: "<issuer>#<sub>: who it is, never the e-mail.",
          }),
          email: Type.String({ maxLength: 254 }),
          name: Type.String({ maxLength: 254 }),
        },
        { description: "Set by those who may assign environments; rights come from it." },
      ),
    ),
    access: Type.Optional(Type.Object({ groups: Groups })),
    trigger: Type.Optional(
      Type.Object({
        kind: literals(["api", "pull_request", "pipeline", "manifest"]),
        provider: Type.Optional(Type.String({ maxLength: 32 })),
        repository: Type.Optional(Type.String({ maxLength: 200 })),
        number: Type.Optional(Type.Integer({ minimum: 1 })),
        login: Type.Optional(Type.String({ maxLength: 128 })),
        delivery: Type.Optional(Type.String({ maxLength: 128 })),
      }),
    ),
    protected: Type.Optional(Type.Boolean({ description: "Refuses deletion and expiry while true." })),
    suspended: Type.Optional(
      Type.Boolean({ description: "Scales everything to zero while true; secrets and data stay." }),
    ),
  },
  rules(
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
      // Left out it is true: so that what else `secrets` says may be added later.
      rule: `${generates("self")} == ${generates("oldSelf")}`,
      fieldPath: ".secrets.autoGenerate",
      message: "spec.secrets.autoGenerate can't be changed after creation",
    },
    immutable("configSet.name", "spec.configSet.name can't be changed after creation; spec.configSet.version can"),
    immutable("trigger", "spec.trigger can't be changed after creation"),
  ),
);
export type EnvironmentSpec = Static<typeof EnvironmentSpec>;

/** The rules of a kind's names. They stand on the root: only there can CEL see the name. */
export const nameRootRules = (kind: NamedKind): readonly CelRule[] =>
  NAME_RULES[kind].map(({ cel, message }) => ({
    rule: cel.replaceAll(/\bname\b/g, "self.metadata.name"),
    messageExpression: `"metadata.name '" + self.metadata.name + "' ${message.replaceAll('"', '\\"')}"`,
  }));

export const environmentRootRules = nameRootRules("environment");
