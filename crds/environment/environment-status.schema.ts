/** What the operator alone writes of an environment. */
import { type Static, Type } from "typebox";
import { CONDITION_MESSAGE_MAX_LENGTH, Conditions, literals, Timestamp } from "../schema.ts";

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
  observedAuditId: Type.Optional(
    Type.String({
      maxLength: 64,
      description: "The audit record that the resource named when its generation was observed last.",
    }),
  ),
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
  expiryNotBefore: Type.Optional(
    Type.Unsafe<string>({
      ...Timestamp,
      description:
        "The end of the grace period that was granted last, before which nothing expires. A TTL that is lowered, or a protection that is lifted, so that the environment would end within 15 minutes, grants it: 15 minutes from when that was seen, but never longer than the environment had before the change. So lowering it again adds no time; an extension gives back what the TTL says, and only what that gave can be shortened into another grace period.",
    }),
  ),
  protected: Type.Optional(Type.Boolean({ description: "Whether it was protected when it was looked at last." })),
  readyAt: Type.Optional(Timestamp),
  specChangedAt: Type.Optional(Timestamp),
  desiredHash: Type.Optional(
    Type.String({ maxLength: 64, description: "Hash of the chart and the values that should run." }),
  ),
  renderedSpecHash: Type.Optional(
    Type.String({ maxLength: 64, description: "Hash of what the spec asked for when `wanted` was computed." }),
  ),
  servingHash: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        "The `wanted` whose URLs all answered last: what serves; empty while nothing does, because it sleeps.",
    }),
  ),
  rollout: Type.Optional(
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
