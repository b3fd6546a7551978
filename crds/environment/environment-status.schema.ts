/** The status of an environment; only the operator writes it. */
import { type Static, Type } from "typebox";
import { Announced } from "../notifications/announced.schema.ts";
import { CONDITION_MESSAGE_MAX_LENGTH, Conditions, literals, Timestamp, timestamp } from "../schema.ts";
import { ManifestStatus } from "./manifest.schema.ts";

const origin = { branch: Type.String({ maxLength: 244 }), commit: Type.String({ maxLength: 64 }) };
const image = Type.String({ maxLength: 512 });

const SourceStatus = Type.Object({
  resolved: Type.Optional(
    Type.Object(
      {
        ...origin,
        asked: Type.Optional(
          Type.String({
            maxLength: 128,
            description: "The requested reconcile for which the head of a followed branch was read.",
          }),
        ),
      },
      { description: "The head of the branch when it was read; absent where the spec names the commit." },
    ),
  ),
  applied: Type.Optional(
    Type.Object(
      { ...origin, image },
      { description: "What the application was given: the wanted commit, or the former one while that is built." },
    ),
  ),
});
export type SourceStatus = Static<typeof SourceStatus>;

const ComponentStatus = Type.Object({
  commit: Type.Optional(origin.commit),
  image: Type.Optional(image),
  revision: Type.Optional(Type.String({ maxLength: 128, description: "Chart revision and hash of the values." })),
});
export type ComponentStatus = Static<typeof ComponentStatus>;

const TeardownStep = Type.Object({
  name: Type.String({ maxLength: 64 }),
  state: literals(["pending", "waiting", "gone", "forced"], {
    description: "gone: verified by a fresh read; forced: an admin skipped it, and something may be left.",
  }),
  message: Type.Optional(Type.String({ maxLength: CONDITION_MESSAGE_MAX_LENGTH })),
  since: Type.Optional(timestamp("Since when the deletion waits for it.")),
  goneAt: Type.Optional(timestamp("When it was verified gone, or forced.")),
});
export type TeardownStep = Static<typeof TeardownStep>;

const TeardownBlocker = Type.Object({
  kind: Type.String({ maxLength: 64, description: "The kind of the object that can't be deleted." }),
  name: Type.String({ maxLength: 253 }),
  reason: Type.String({
    maxLength: 128,
    description: "The finalizer or the condition that blocks it, or why it can't be deleted.",
  }),
  message: Type.String({ maxLength: CONDITION_MESSAGE_MAX_LENGTH }),
});
export type TeardownBlocker = Static<typeof TeardownBlocker>;

const SecretStatus = Type.Object({
  name: Type.String({ maxLength: 128 }),
  version: Type.Integer(),
  rotation: Type.Optional(
    Type.String({ maxLength: 64, description: "The value of `spec.secrets.rotate` that asked for this version." }),
  ),
  source: Type.Optional(
    Type.String({
      maxLength: 270,
      description: "Where it is read from, as <secret>@<key>; absent for a value that the environment owns.",
    }),
  ),
  own: Type.Optional(
    Type.Integer({ description: "The version of the environment's own value, while a reference replaces it." }),
  ),
});
export type SecretStatus = Static<typeof SecretStatus>;

const PullCredential = Type.Object({
  registry: Type.String({ maxLength: 300, description: "The registry, or the image, that it is for." }),
  source: Type.String({ maxLength: 270, description: "Its place in the secret manager, as <secret>@<key>." }),
});
export type PullCredential = Static<typeof PullCredential>;

/** Equal for equal texts, so that nothing is told twice. */
const told = Type.String({ maxLength: 40, description: "A hash of what was told last." });

const FeedbackStatus = Type.Object(
  {
    status: Type.Optional(
      Type.Object({
        commit: Type.String({ maxLength: 64 }),
        state: literals(["pending", "success", "failure"]),
        told,
      }),
    ),
    comment: Type.Optional(Type.Object({ id: Type.Integer({ format: "int64" }), told })),
    deployment: Type.Optional(Type.Object({ told })),
    problem: Type.Optional(
      Type.String({ maxLength: CONDITION_MESSAGE_MAX_LENGTH, description: "Why the host is not told the rest yet." }),
    ),
  },
  { description: "What the host of its pull request or pipeline was told." },
);
export type FeedbackStatus = Static<typeof FeedbackStatus>;

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
      description: "The audit record that the resource named when its generation was last observed.",
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
    timestamp(
      "The end of the last grace period; the environment does not expire before it. A change of the TTL or of the protection that would end the environment within 15 minutes starts one: it ends 15 minutes after the change was observed, or when the environment would have expired without the change, whichever is sooner. Lowering the TTL repeatedly adds no time.",
    ),
  ),
  protected: Type.Optional(Type.Boolean({ description: "Whether it was protected at the last reconcile." })),
  readyAt: Type.Optional(Timestamp),
  specChangedAt: Type.Optional(Timestamp),
  desiredHash: Type.Optional(
    Type.String({ maxLength: 64, description: "Hash of the chart and the values that should run." }),
  ),
  renderedSpecHash: Type.Optional(
    Type.String({ maxLength: 64, description: "Hash of what the spec asked for when `desiredHash` was computed." }),
  ),
  servingHash: Type.Optional(
    Type.String({
      maxLength: 64,
      description: "The last `desiredHash` whose URLs all answered; empty while the environment is suspended.",
    }),
  ),
  rollout: Type.Optional(
    Type.Object(
      {
        since: Timestamp,
        asked: Type.String({ maxLength: 64, description: "Hash of what the spec asks for." }),
      },
      { description: "The rollout in progress; absent while what the spec asks for serves." },
    ),
  ),
  sources: Type.Optional(
    Type.Object(
      { backend: Type.Optional(SourceStatus), frontend: Type.Optional(SourceStatus) },
      { description: "The commits that were resolved and applied, by component." },
    ),
  ),
  components: Type.Optional(
    Type.Object(
      { backend: Type.Optional(ComponentStatus), frontend: Type.Optional(ComponentStatus) },
      { description: "What runs, by component." },
    ),
  ),
  secrets: Type.Optional(
    Type.Array(SecretStatus, {
      // The sum of what may be listed, provided, referred to and shared.
      maxItems: 800,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      description: "Names and versions, never values.",
    }),
  ),
  podSecrets: Type.Optional(
    Type.Array(Type.String({ maxLength: 253 }), {
      maxItems: 16,
      description: "The Secrets in the namespace that pods may still name; the last one is the desired one.",
    }),
  ),
  pullSecret: Type.Optional(
    Type.Array(PullCredential, {
      maxItems: 16,
      description:
        "The credentials in the Secret image-pull of the namespace: the desired ones, then those that former pods may still need; empty when the Secret was removed.",
    }),
  ),
  configSet: Type.Optional(
    Type.Object(
      {
        name: Type.String({ maxLength: 50 }),
        version: Type.Integer({ format: "int64", minimum: 1 }),
        revision: Type.String({ maxLength: 253, description: "The ControllerRevision that keeps this version." }),
        ttlDefaultHours: Type.Optional(
          Type.Integer({ description: "The TTL that this version gives to environments made with it." }),
        ),
      },
      { description: "The version of the config set that the environment was made with or moved to." },
    ),
  ),
  grantedValues: Type.Optional(
    Type.Array(Type.String({ maxLength: 255 }), {
      maxItems: 50,
      description: "Paths of `spec.overrides.values` that a Repository listed when they were first requested.",
    }),
  ),
  teardown: Type.Optional(
    Type.Object({
      steps: Type.Array(TeardownStep, { maxItems: 16 }),
      blockers: Type.Optional(
        Type.Array(TeardownBlocker, { maxItems: 16, description: "What blocks a step that takes too long." }),
      ),
      before: Type.Optional(
        Type.Object(
          { phase: literals(PHASES), failure: Type.Optional(Type.String({ maxLength: 128 })) },
          { description: "The state of the environment when its deletion was requested." },
        ),
      ),
    }),
  ),
  announced: Type.Optional(Announced),
  manifest: Type.Optional(ManifestStatus),
  feedback: Type.Optional(FeedbackStatus),
  lastHandledReconcileAt: Type.Optional(Type.String({ maxLength: 128 })),
});
export type EnvironmentStatus = Static<typeof EnvironmentStatus>;
