import { type Static, Type } from "typebox";
import { BRANCH_RULES } from "./branches.ts";
import { TTL_MAX_HOURS } from "./lifetime.ts";
import { NAME_RULES } from "./names.ts";
import { PIPELINE_RULES, WANTED_PIPELINE_RULE } from "./pipelines.ts";
import { QUANTITY_PATTERN } from "./quantity.ts";
import {
  Branch,
  type CelRule,
  COMMIT_PATTERN,
  CONDITION_MESSAGE_MAX_LENGTH,
  Commit,
  Conditions,
  Groups,
  literals,
  map,
  rules,
  SECRET_ID_PATTERN,
  SECRET_KEY_PATTERN,
  Timestamp,
  VARIABLE_PATTERN,
} from "./schema.ts";

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
        description: "Hours from creation to deletion; 24 when left out.",
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

const origin = { branch: Type.String({ maxLength: 244 }), commit: Type.String({ maxLength: 64 }) };
const image = Type.String({ maxLength: 512 });

const ComponentStatus = Type.Object(
  {
    resolved: Type.Optional(
      Type.Object(
        {
          ...origin,
          asked: Type.Optional(
            Type.String({
              maxLength: 128,
              description: "The request for a pass after which a followed branch was asked.",
            }),
          ),
        },
        { description: "The head of the branch when that was asked; absent where the spec names the commit." },
      ),
    ),
    applied: Type.Optional(
      Type.Object(
        { ...origin, image },
        { description: "What the application was given: what is wanted, or what was before while that is built." },
      ),
    ),
    commit: Type.Optional(origin.commit),
    image: Type.Optional(image),
    revision: Type.Optional(Type.String({ maxLength: 128, description: "Chart revision and hash of the values." })),
  },
  { description: "Commit, image and revision are of what runs." },
);
export type ComponentStatus = Static<typeof ComponentStatus>;

const TeardownStep = Type.Object({
  name: Type.String({ maxLength: 64 }),
  state: literals(["pending", "waiting", "gone", "forced"], {
    description: "gone: verified by a fresh read; forced: an admin went past it, and something may be left.",
  }),
  message: Type.Optional(Type.String({ maxLength: CONDITION_MESSAGE_MAX_LENGTH })),
  since: Type.Optional(Type.Unsafe<string>({ ...Timestamp, description: "Since when it is waited for." })),
  goneAt: Type.Optional(
    Type.Unsafe<string>({ ...Timestamp, description: "When it was verified gone; of a forced one: gone past." }),
  ),
});
export type TeardownStep = Static<typeof TeardownStep>;

const TeardownBlocker = Type.Object({
  kind: Type.String({ maxLength: 64, description: "The kind of the object that does not go." }),
  name: Type.String({ maxLength: 253 }),
  reason: Type.String({
    maxLength: 128,
    description: "The finalizer or the condition that holds it, or why it can't be removed.",
  }),
  message: Type.String({ maxLength: CONDITION_MESSAGE_MAX_LENGTH }),
});
export type TeardownBlocker = Static<typeof TeardownBlocker>;

const SecretStatus = Type.Object({
  name: Type.String({ maxLength: 128 }),
  version: Type.Integer(),
  rotation: Type.Optional(
    Type.String({ maxLength: 64, description: "The `spec.secrets.rotate` that this version answers." }),
  ),
  source: Type.Optional(
    Type.String({
      maxLength: 270,
      description: "Where else it is read from, as <secret>@<key>; absent for a value of its own.",
    }),
  ),
  own: Type.Optional(
    Type.Integer({ description: "The version of its own value, while one from elsewhere stands in for it." }),
  ),
});
export type SecretStatus = Static<typeof SecretStatus>;

const PullCredential = Type.Object({
  registry: Type.String({ maxLength: 300, description: "For whose images it is." }),
  source: Type.String({ maxLength: 270, description: "Where the secret manager has it, as <secret>@<key>." }),
});
export type PullCredential = Static<typeof PullCredential>;

export const PHASES = ["creating", "building", "updating", "ready", "failed", "terminating"] as const;
/** The environment's status as the REST contract words it. */
export type Phase = (typeof PHASES)[number];

export const EnvironmentStatus = Type.Object({
  phase: Type.Optional(literals(PHASES)),
  conditions: Type.Optional(Conditions),
  observedGeneration: Type.Optional(Type.Integer({ format: "int64" })),
  namespace: Type.Optional(Type.String({ maxLength: 63 })),
  deployerApp: Type.Optional(Type.String({ maxLength: 63 })),
  url: Type.Optional(Type.String({ maxLength: 512, description: "For people: the frontend, else the backend." })),
  urls: Type.Optional(
    Type.Object({
      backend: Type.Optional(Type.String({ maxLength: 512 })),
      frontend: Type.Optional(Type.String({ maxLength: 512 })),
    }),
  ),
  ttlHours: Type.Optional(Type.Integer()),
  expiresAt: Type.Optional(Timestamp),
  expiryNotBefore: Type.Optional(Timestamp),
  protected: Type.Optional(Type.Boolean({ description: "Whether it was protected when it was looked at last." })),
  readyAt: Type.Optional(Timestamp),
  specChangedAt: Type.Optional(Timestamp),
  wanted: Type.Optional(
    Type.String({ maxLength: 64, description: "Hash of the chart and the values that should run." }),
  ),
  rendered: Type.Optional(
    Type.String({ maxLength: 64, description: "Hash of what the spec asked for when `wanted` was computed." }),
  ),
  answered: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        "The `wanted` whose URLs all answered last: what serves; empty while nothing does, because it sleeps.",
    }),
  ),
  pursuing: Type.Optional(
    Type.Object(
      {
        since: Timestamp,
        asked: Type.String({ maxLength: 64, description: "Hash of what the spec asks for." }),
      },
      { description: "What is wanted and does not serve yet; absent while it does." },
    ),
  ),
  components: Type.Optional(
    Type.Object({ backend: Type.Optional(ComponentStatus), frontend: Type.Optional(ComponentStatus) }),
  ),
  secrets: Type.Optional(
    Type.Array(SecretStatus, {
      // As many as all that may be listed, provided, referred to and shared comes to.
      maxItems: 800,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      description: "Names and versions, never values.",
    }),
  ),
  podSecrets: Type.Optional(
    Type.Array(Type.String({ maxLength: 253 }), {
      maxItems: 16,
      description: "The Secrets in the namespace that pods may still name; the last one is what is wanted.",
    }),
  ),
  pullSecret: Type.Optional(
    Type.Array(PullCredential, {
      maxItems: 16,
      description:
        "What the Secret image-pull in the namespace was made of: what is wanted, then what pods of before may still need; empty when there is none any more.",
    }),
  ),
  configSet: Type.Optional(
    Type.Object(
      {
        name: Type.String({ maxLength: 50 }),
        version: Type.Integer({ format: "int64", minimum: 1 }),
        revision: Type.String({ maxLength: 253, description: "The ControllerRevision that keeps this version." }),
      },
      { description: "The version of the config set that the environment was made with or moved to." },
    ),
  ),
  grantedValues: Type.Optional(
    Type.Array(Type.String({ maxLength: 255 }), {
      maxItems: 50,
      description: "Paths of `spec.overrides.values` that a Repository listed when they were asked for first.",
    }),
  ),
  teardown: Type.Optional(
    Type.Object({
      steps: Type.Array(TeardownStep, { maxItems: 16 }),
      blockers: Type.Optional(
        Type.Array(TeardownBlocker, { maxItems: 16, description: "What holds a step that takes too long." }),
      ),
      before: Type.Optional(
        Type.Object(
          { phase: literals(PHASES), failure: Type.Optional(Type.String({ maxLength: 128 })) },
          { description: "What the environment was when its deletion was asked for." },
        ),
      ),
    }),
  ),
  lastHandledReconcileAt: Type.Optional(Type.String({ maxLength: 128 })),
});
export type EnvironmentStatus = Static<typeof EnvironmentStatus>;

/** Rules on the name stand on the root: only there can CEL see it. */
export const environmentRootRules: readonly CelRule[] = NAME_RULES.map(({ cel, message }) => ({
  rule: cel.replaceAll(/\bname\b/g, "self.metadata.name"),
  messageExpression: `"metadata.name '" + self.metadata.name + "' ${message.replaceAll('"', '\\"')}"`,
}));
