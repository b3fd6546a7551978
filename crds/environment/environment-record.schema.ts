import { type Static, Type } from "typebox";
import { CONDITION_MESSAGE_MAX_LENGTH, literals, rules, text, timestamp } from "../schema.ts";
import { AppliedState } from "./applied-state.schema.ts";
import { FinalizerRemoval, PHASES } from "./environment-status.schema.ts";
import { EnvironmentSpec } from "./ephemeral-environment.schema.ts";
import { DELETION_CAUSES, NotedManifest } from "./manifest.schema.ts";
import { PastSleeps } from "./past-sleep.schema.ts";
import { Allocations, Usage } from "./usage.schema.ts";

const componentOf = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        repository: text(50, "Name of its Repository."),
        branch: text(244, "The branch that it was deployed from."),
        commit: text(64, "The resolved commit; empty when there was none."),
      },
      { description },
    ),
  );

const ForcedStep = Type.Object({
  step: text(64, "Name of the step of the deletion."),
  left: text(CONDITION_MESSAGE_MAX_LENGTH, "Objects that were not verified gone."),
});

const { owner, trigger } = EnvironmentSpec.properties;

export const RecordSpec = Type.Object(
  {
    name: Type.String({ maxLength: 253, description: "The name of the environment; the record is named by its UID." }),
    uid: text(64, "The metadata.uid of the environment."),
    reason: literals(["deleted", "expired", "orphaned"], {
      description:
        "deleted: by request; expired: by its TTL; orphaned: the resource was gone before its other objects.",
    }),
    cause: Type.Optional(
      literals(DELETION_CAUSES, {
        description:
          "Cause of the deletion of an environment that Git or a webhook may bring back. expired: by its TTL; deletedByUser, cleanup: through the REST interface; pruned: otherwise.",
      }),
    ),
    manifest: Type.Optional(NotedManifest),
    createdAt: timestamp("Creation of the environment."),
    readyAt: Type.Optional(timestamp("Time when it was first ready; absent if it never was.")),
    dueAt: Type.Optional(timestamp("Time from which its expiry permitted its deletion; absent if it never did.")),
    deletedAt: timestamp("Time of the deletion request."),
    goneAt: timestamp("Time when everything was verified gone, or forced."),
    teardownSeconds: Type.Integer({ minimum: 0, description: "Seconds from deletedAt to goneAt." }),
    ttlHours: Type.Optional(Type.Integer({ description: "Last TTL, in hours." })),
    phase: Type.Optional(literals(PHASES, { description: "The last phase before terminating." })),
    failure: Type.Optional(Type.String({ maxLength: 128, description: "The reason of Ready, if it had failed." })),
    components: Type.Optional(
      Type.Object(
        { backend: componentOf("The backend."), frontend: componentOf("The frontend, if it had one.") },
        { description: "Sources of the environment." },
      ),
    ),
    configSet: Type.Optional(
      Type.Object(
        {
          name: text(50, "Name of the ConfigSet."),
          version: Type.Optional(
            Type.Integer({ format: "int64", minimum: 1, description: "The last version that it used." }),
          ),
        },
        { description: "Config set of the environment." },
      ),
    ),
    usage: Type.Optional(Usage),
    allocations: Type.Optional(Allocations),
    sleeps: Type.Optional(PastSleeps),
    databaseProvisioned: Type.Optional(Type.Boolean({ description: "True when it had a database." })),
    owner,
    groups: Type.Optional(
      Type.Array(Type.String({ maxLength: 128 }), {
        maxItems: 50,
        description: "`spec.access.groups` of the environment.",
      }),
    ),
    trigger,
    appliedState: Type.Optional(AppliedState),
    untold: Type.Optional(
      Type.String({
        maxLength: CONDITION_MESSAGE_MAX_LENGTH,
        description: "Reason why its end was not reported to the host of its pull request.",
      }),
    ),
    keptVolumes: Type.Optional(
      Type.String({
        maxLength: CONDITION_MESSAGE_MAX_LENGTH,
        description: "The PersistentVolumes of its claims that were left, with their data.",
      }),
    ),
    takenOver: Type.Optional(
      Type.String({
        maxLength: CONDITION_MESSAGE_MAX_LENGTH,
        description: "Reason why the platform removed its application in place of the deployer.",
      }),
    ),
    removals: Type.Optional(
      Type.Array(FinalizerRemoval, {
        maxItems: 50,
        description: "The finalizers in its namespace that the platform removed: what they were to free may be left.",
      }),
    ),
    forced: Type.Optional(Type.Array(ForcedStep, { maxItems: 16, description: "The steps that an admin skipped." })),
  },
  {
    description: "Facts about the deleted environment; only the operator writes them, once.",
    ...rules({ rule: "self == oldSelf", message: "a record is never changed" }),
  },
);
export type RecordSpec = Static<typeof RecordSpec>;

export const RecordStatus = Type.Object(
  { allocations: Type.Optional(Allocations) },
  { description: "Facts that became known after the environment's end; they replace those of the spec." },
);
export type RecordStatus = Static<typeof RecordStatus>;
