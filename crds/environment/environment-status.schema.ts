import { type Static, Type } from "typebox";
import { CopySource } from "../database-copy.schema.ts";
import { Announced } from "../notifications/announced.schema.ts";
import { FURTHER_HOSTS_MAX } from "../repository/further-hosts.schema.ts";
import { CONDITION_MESSAGE_MAX_LENGTH, Conditions, described, literals, map, text, timestamp } from "../schema.ts";
import { LoadedSeed, SeedFile } from "../seed.schema.ts";
import { SleepStatus, SleepWish } from "../sleep.schema.ts";
import { ManifestStatus } from "./manifest.schema.ts";
import { PastSleeps } from "./past-sleep.schema.ts";
import { Allocations, Usage } from "./usage.schema.ts";

const origin = { branch: text(244, "The git branch."), commit: text(64, "The full SHA of the commit.") };
const image = text(512, "The container image with its tag.");

const SourceStatus = Type.Object({
  resolved: Type.Optional(
    Type.Object(
      {
        ...origin,
        reconcileToken: Type.Optional(
          text(128, "The requested reconcile for which the head of a followed branch was read."),
        ),
      },
      { description: "The head of the branch when it was read; absent where the spec names the commit." },
    ),
  ),
  applied: Type.Optional(
    Type.Object(
      { ...origin, image },
      { description: "Commit of the application: the desired one, or the former one while that is built." },
    ),
  ),
});
export type SourceStatus = Static<typeof SourceStatus>;

const ComponentStatus = Type.Object({
  commit: Type.Optional(
    text(
      64,
      "The full SHA of the commit that runs; absent where the image's tag stays the same and the pods don't say it.",
    ),
  ),
  image: Type.Optional(image),
  revision: Type.Optional(text(128, "Chart revision and hash of the values.")),
});
export type ComponentStatus = Static<typeof ComponentStatus>;

const TeardownStep = Type.Object({
  name: text(64, "Name of the step."),
  state: literals(["pending", "waiting", "gone", "forced"], {
    description: "gone: verified by a fresh read; forced: an admin skipped it, and something may be left.",
  }),
  message: Type.Optional(text(CONDITION_MESSAGE_MAX_LENGTH, "For people: what the step waits for, or what is left.")),
  since: Type.Optional(timestamp("Begin of the wait for it.")),
  goneAt: Type.Optional(timestamp("Time when it was verified gone, or forced.")),
});
export type TeardownStep = Static<typeof TeardownStep>;

const TeardownBlocker = Type.Object({
  kind: text(64, "The kind of the object that can't be deleted."),
  name: text(253, "Name of the object."),
  reason: text(128, "The finalizer or the condition that blocks it, or why it can't be deleted."),
  message: text(CONDITION_MESSAGE_MAX_LENGTH, "For people: what blocks it, and what to do."),
});
export type TeardownBlocker = Static<typeof TeardownBlocker>;

/** Finalizers that the platform removed from one kind of object, because their controller did not in time. */
export const FinalizerRemoval = Type.Object({
  kind: text(64, "The kind of the objects."),
  finalizer: text(317, "The finalizer."),
  names: Type.Array(text(253, "Name of an object."), { maxItems: 20, description: "The first of the objects." }),
  objects: Type.Integer({ minimum: 1, description: "Number of objects that had it." }),
});
export type FinalizerRemoval = Static<typeof FinalizerRemoval>;

const SecretStatus = Type.Object({
  name: text(128, "Name of the variable."),
  version: Type.Integer({ description: "The version of the value in the secret manager." }),
  rotation: Type.Optional(text(64, "The value of `spec.secrets.rotate` that requested this version.")),
  source: Type.Optional(
    text(270, "Source of the value, as <secret>@<key>; absent for a value that the environment owns."),
  ),
  own: Type.Optional(
    Type.Integer({ description: "The version of the environment's own value, while a reference replaces it." }),
  ),
});
export type SecretStatus = Static<typeof SecretStatus>;

const PullCredential = Type.Object({
  registry: text(300, "The registry, or the image, that it is for."),
  source: text(270, "Place in the secret manager, as <secret>@<key>."),
});
export type PullCredential = Static<typeof PullCredential>;

/** Equal for equal texts, so that nothing is reported twice. */
const lastReportedHash = text(40, "A hash of the last report.");

const FeedbackStatus = Type.Object(
  {
    status: Type.Optional(
      Type.Object(
        {
          commit: text(64, "The commit of this status."),
          state: literals(["pending", "success", "failure"], { description: "The state that the host shows." }),
          lastReportedHash,
        },
        { description: "The status of the commit." },
      ),
    ),
    comment: Type.Optional(
      Type.Object(
        { id: Type.Integer({ format: "int64", description: "Id of the comment on the host." }), lastReportedHash },
        { description: "The comment on the pull request." },
      ),
    ),
    deployment: Type.Optional(Type.Object({ lastReportedHash }, { description: "The deployment on the host." })),
    problem: Type.Optional(text(CONDITION_MESSAGE_MAX_LENGTH, "Reason why the rest is not reported yet.")),
  },
  { description: "Reports to the host of its pull request or pipeline." },
);
export type FeedbackStatus = Static<typeof FeedbackStatus>;

export const PHASES = ["creating", "building", "updating", "ready", "failed", "terminating"] as const;
/** Status of the environment in the REST contract. */
export type Phase = (typeof PHASES)[number];

export const EnvironmentStatus = Type.Object(
  {
    phase: Type.Optional(literals(PHASES, { description: "A summary of the conditions, for people." })),
    conditions: Type.Optional(Conditions),
    observedGeneration: Type.Optional(
      Type.Integer({ format: "int64", description: "The metadata.generation that the last reconcile saw." }),
    ),
    observedAuditId: Type.Optional(
      text(64, "The audit record that the resource named when its generation was last observed."),
    ),
    namespace: Type.Optional(text(63, "The namespace of its pods.")),
    deployerApp: Type.Optional(text(63, "Name of the deployer's application, such as Argo CD's.")),
    url: Type.Optional(text(512, "For people: the frontend, else the backend.")),
    urls: Type.Optional(
      Type.Object(
        {
          backend: Type.Optional(text(512, "URL of the backend.")),
          frontend: Type.Optional(text(512, "URL of the frontend.")),
          hosts: Type.Optional(
            map(text(512, "URL."), {
              maxProperties: FURTHER_HOSTS_MAX,
              description: "URLs of the further hosts of the backend's Repository, by name.",
            }),
          ),
        },
        { description: "The URLs that have to answer." },
      ),
    ),
    ttlHours: Type.Optional(Type.Integer({ description: "The TTL in effect, in hours from the creation." })),
    expiresAt: Type.Optional(timestamp("End of the TTL; unless it is protected, the environment is deleted then.")),
    expiryNotBefore: Type.Optional(
      timestamp(
        "The end of the last grace period; the environment does not expire before it. A change of the TTL or of the protection that would end the environment within 15 minutes starts one: it ends 15 minutes after the change was observed, or when the environment would have expired without the change, whichever is sooner. Lowering the TTL repeatedly adds no time.",
      ),
    ),
    protected: Type.Optional(
      Type.Boolean({ description: "True: it was protected without end at the last reconcile." }),
    ),
    protectedUntil: Type.Optional(
      timestamp(
        "`spec.protectedUntil` at the last reconcile. One that has ended stays after its removal from the spec.",
      ),
    ),
    readyAt: Type.Optional(timestamp("Time when all URLs first answered.")),
    specChangedAt: Type.Optional(timestamp("Time of the last observed change of the spec; at first the creation.")),
    desiredHash: Type.Optional(text(64, "Hash of the chart and the values that should run.")),
    renderedSpecHash: Type.Optional(
      text(64, "Hash of the fields of the spec about what runs, when `desiredHash` was computed."),
    ),
    servingHash: Type.Optional(
      text(64, "The last `desiredHash` whose URLs all answered; empty while the environment is suspended."),
    ),
    sleep: Type.Optional(SleepStatus),
    rollout: Type.Optional(
      Type.Object(
        {
          since: timestamp("Begin of the rollout."),
          specHash: text(64, "Hash of what the spec asks for."),
        },
        { description: "The rollout in progress; absent while what the spec asks for serves." },
      ),
    ),
    sources: Type.Optional(
      Type.Object(
        {
          backend: Type.Optional(described(SourceStatus, "The source of the backend.")),
          frontend: Type.Optional(described(SourceStatus, "The source of the frontend.")),
        },
        { description: "The commits that were resolved and applied, by component." },
      ),
    ),
    components: Type.Optional(
      Type.Object(
        {
          backend: Type.Optional(described(ComponentStatus, "The backend that runs.")),
          frontend: Type.Optional(described(ComponentStatus, "The frontend that runs.")),
        },
        { description: "Running versions, by component." },
      ),
    ),
    secrets: Type.Optional(
      Type.Array(SecretStatus, {
        // Sum of all kinds of variables.
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
          name: text(50, "Name of the ConfigSet."),
          version: Type.Integer({
            format: "int64",
            minimum: 1,
            description: "The metadata.generation of the ConfigSet.",
          }),
          revision: text(253, "The ControllerRevision that keeps this version."),
          ttlDefaultHours: Type.Optional(
            Type.Integer({ description: "The TTL that this version gives to environments made with it." }),
          ),
          sleep: Type.Optional(SleepWish),
        },
        { description: "The version of the config set that the environment was made with or moved to." },
      ),
    ),
    database: Type.Optional(
      Type.Object(
        {
          made: Type.Boolean({ description: "True once there is one: nothing is loaded into it any more." }),
          seed: Type.Optional(described(LoadedSeed, "The seed that it was made with; absent: none.")),
          file: Type.Optional(SeedFile),
          from: Type.Optional(described(CopySource, "The environment that it is a copy of; absent: none.")),
          generation: Type.Optional(
            Type.Integer({
              minimum: 1,
              description: "The `spec.database.generation` that it was made for; absent: 1.",
            }),
          ),
        },
        { description: "The database, since its last creation." },
      ),
    ),
    grantedValues: Type.Optional(
      Type.Array(Type.String({ maxLength: 255 }), {
        maxItems: 50,
        description: "Paths of `spec.overrides.values` that a Repository listed when they were first requested.",
      }),
    ),
    teardown: Type.Optional(
      Type.Object(
        {
          steps: Type.Array(TeardownStep, { maxItems: 16, description: "The steps of the deletion, in their order." }),
          blockers: Type.Optional(
            Type.Array(TeardownBlocker, { maxItems: 16, description: "Blockers of a step that takes too long." }),
          ),
          removals: Type.Optional(
            Type.Array(FinalizerRemoval, {
              maxItems: 50,
              description: "The finalizers in its namespace that the platform removes, or has removed.",
            }),
          ),
          before: Type.Optional(
            Type.Object(
              {
                phase: literals(PHASES, { description: "The phase then." }),
                failure: Type.Optional(text(128, "The reason of Ready, if it had failed.")),
              },
              { description: "The state of the environment when its deletion was requested." },
            ),
          ),
        },
        { description: "The progress of the deletion; absent before it is requested." },
      ),
    ),
    announced: Type.Optional(Announced),
    usage: Type.Optional(Usage),
    allocations: Type.Optional(Allocations),
    sleeps: Type.Optional(PastSleeps),
    manifest: Type.Optional(ManifestStatus),
    feedback: Type.Optional(FeedbackStatus),
    lastHandledReconcileAt: Type.Optional(text(128, "The token of the last requested reconcile that was handled.")),
  },
  { description: "The observed state of the environment; only the operator writes it." },
);
export type EnvironmentStatus = Static<typeof EnvironmentStatus>;
