import { type Static, Type } from "typebox";
import { BRANCH_RULES } from "./branches.ts";
import { TTL_MAX_HOURS } from "./lifetime.ts";
import { NAME_RULES } from "./names.ts";
import {
  Branch,
  type CelRule,
  CONDITION_MESSAGE_MAX_LENGTH,
  Commit,
  Conditions,
  Groups,
  literals,
  rules,
  Timestamp,
} from "./schema.ts";

const nameOf = (kind: string) => Type.String({ minLength: 1, maxLength: 50, description: `Name of a ${kind}.` });

const branchRules: CelRule[] = BRANCH_RULES.map(({ cel, message }) => ({
  rule: cel("self.branch"),
  fieldPath: ".branch",
  message: `a branch ${message}`,
}));

const Source = Type.Object(
  {
    repository: nameOf("Repository"),
    branch: Branch,
    commit: Type.Optional(
      Type.Unsafe<Static<typeof Commit>>({
        ...Commit,
        description: "Empty: the head of the branch, settled once at creation.",
      }),
    ),
  },
  rules(...branchRules),
);

/** A field that may be set when the environment is made and never after: neither changed, nor removed, nor added. */
const immutable = (field: string, message: string): CelRule => {
  const [parent, name] = field.includes(".") ? (field.split(".") as [string, string]) : [undefined, field];
  const has = (root: string) =>
    parent ? `(has(${root}.${parent}) && has(${root}.${parent}.${name}))` : `has(${root}.${name})`;
  return {
    rule: `${has("self")} == ${has("oldSelf")} && (!${has("self")} || self.${field} == oldSelf.${field})`,
    fieldPath: `.${field}`,
    message,
  };
};

/** What this release refuses rather than ignores; a later one loosens these rules and nothing else. */
const notYet: CelRule[] = [
  {
    rule: "!has(self.database) || !self.database.provision",
    fieldPath: ".database.provision",
    message: "this release provisions no databases: leave it out or set it to false",
  },
  {
    rule: "!has(self.secrets) || !has(self.secrets.autoGenerate) || self.secrets.autoGenerate",
    fieldPath: ".secrets.autoGenerate",
    message: "this release always generates the secrets: leave it out or set it to true",
  },
  {
    rule: "!has(self.secrets) || !has(self.secrets.useSharedApiKeys) || !self.secrets.useSharedApiKeys",
    fieldPath: ".secrets.useSharedApiKeys",
    message: "this release has no shared API keys: leave it out or set it to false",
  },
  { rule: "!has(self.configSet)", fieldPath: ".configSet", message: "this release has no config sets: leave it out" },
  { rule: "!has(self.overrides)", fieldPath: ".overrides", message: "this release has no overrides: leave them out" },
  {
    rule: "!has(self.suspended) || !self.suspended",
    fieldPath: ".suspended",
    message: "this release can't suspend an environment: leave it out or set it to false",
  },
].map((rule) => ({ ...rule, reason: "FieldValueForbidden" as const }));

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
    database: Type.Optional(Type.Object({ provision: Type.Boolean() })),
    secrets: Type.Optional(
      Type.Object({ autoGenerate: Type.Optional(Type.Boolean()), useSharedApiKeys: Type.Optional(Type.Boolean()) }),
    ),
    configSet: Type.Optional(
      Type.Object({ name: nameOf("config set"), version: Type.Optional(Type.Integer({ minimum: 1 })) }),
    ),
    overrides: Type.Optional(Type.Object({}, { "x-kubernetes-preserve-unknown-fields": true })),
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
    suspended: Type.Optional(Type.Boolean()),
  },
  rules(
    ...notYet,
    immutable(
      "frontend.repository",
      "spec.frontend.repository, and whether there is a frontend at all, can't be changed after creation",
    ),
    {
      rule: "self.backend.repository == oldSelf.backend.repository",
      fieldPath: ".backend.repository",
      message: "spec.backend.repository can't be changed after creation",
    },
    immutable("secrets.autoGenerate", "spec.secrets.autoGenerate can't be changed after creation"),
    immutable("trigger", "spec.trigger can't be changed after creation"),
  ),
);
export type EnvironmentSpec = Static<typeof EnvironmentSpec>;

const ComponentStatus = Type.Object({
  branch: Type.Optional(Type.String({ maxLength: 244, description: "The branch whose commit was settled." })),
  commit: Type.Optional(Type.String({ maxLength: 64, description: "The commit settled for this component." })),
  image: Type.Optional(Type.String({ maxLength: 512 })),
  revision: Type.Optional(
    Type.String({ maxLength: 128, description: "What runs: chart revision and hash of the values." }),
  ),
});
export type ComponentStatus = Static<typeof ComponentStatus>;

const TeardownStep = Type.Object({
  name: Type.String({ maxLength: 64 }),
  state: literals(["pending", "waiting", "gone"]),
  message: Type.Optional(Type.String({ maxLength: CONDITION_MESSAGE_MAX_LENGTH })),
});

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
  readyAt: Type.Optional(Timestamp),
  specChangedAt: Type.Optional(Timestamp),
  wanted: Type.Optional(
    Type.String({ maxLength: 64, description: "Hash of the chart and the values that should run." }),
  ),
  answered: Type.Optional(
    Type.String({ maxLength: 64, description: "The `wanted` whose URLs all answered last: what serves." }),
  ),
  pursuing: Type.Optional(
    Type.Object(
      {
        since: Timestamp,
        source: Type.String({ maxLength: 64, description: "Hash of the branches and commits asked for." }),
      },
      { description: "What is wanted and does not serve yet; absent while it does." },
    ),
  ),
  components: Type.Optional(
    Type.Object({ backend: Type.Optional(ComponentStatus), frontend: Type.Optional(ComponentStatus) }),
  ),
  secrets: Type.Optional(
    Type.Array(Type.Object({ name: Type.String({ maxLength: 128 }), version: Type.Integer() }), {
      maxItems: 200,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      description: "Names and versions, never values.",
    }),
  ),
  teardown: Type.Optional(Type.Object({ steps: Type.Array(TeardownStep, { maxItems: 16 }) })),
  lastHandledReconcileAt: Type.Optional(Type.String({ maxLength: 128 })),
});
export type EnvironmentStatus = Static<typeof EnvironmentStatus>;

/** Rules on the name stand on the root: only there can CEL see it. */
export const environmentRootRules: readonly CelRule[] = NAME_RULES.map(({ cel, message }) => ({
  rule: cel.replaceAll(/\bname\b/g, "self.metadata.name"),
  messageExpression: `"metadata.name '" + self.metadata.name + "' ${message.replaceAll('"', '\\"')}"`,
}));
