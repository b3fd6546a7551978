import { type Static, Type } from "typebox";
import { CONDITION_MESSAGE_MAX_LENGTH, literals, rules, Timestamp, timestamp } from "../schema.ts";
import { PHASES } from "./environment-status.schema.ts";
import { EnvironmentSpec } from "./ephemeral-environment.schema.ts";
import { DELETION_CAUSES, NotedManifest } from "./manifest.schema.ts";

const Component = Type.Object({
  repository: Type.String({ maxLength: 50 }),
  branch: Type.String({ maxLength: 244 }),
  commit: Type.String({ maxLength: 64, description: "The resolved commit; empty when there was none." }),
});

const ForcedStep = Type.Object({
  step: Type.String({ maxLength: 64 }),
  left: Type.String({ maxLength: CONDITION_MESSAGE_MAX_LENGTH, description: "What was not verified gone." }),
});

const { owner, trigger } = EnvironmentSpec.properties;

export const RecordSpec = Type.Object(
  {
    name: Type.String({ maxLength: 253, description: "The name of the environment; the record is named by its UID." }),
    uid: Type.String({ maxLength: 64 }),
    reason: literals(["deleted", "expired", "orphaned"], {
      description:
        "deleted: by request; expired: by its TTL; orphaned: the resource was gone before its other objects.",
    }),
    cause: Type.Optional(
      literals(DELETION_CAUSES, {
        description:
          "Of an environment that Git or a webhook may bring back. expired: by its TTL; deletedByUser, cleanup: through the REST interface; pruned: otherwise.",
      }),
    ),
    manifest: Type.Optional(NotedManifest),
    createdAt: Timestamp,
    readyAt: Type.Optional(Timestamp),
    deletedAt: timestamp("When its deletion was requested."),
    goneAt: timestamp("When everything was verified gone, or forced."),
    teardownSeconds: Type.Integer({ minimum: 0 }),
    ttlHours: Type.Optional(Type.Integer()),
    phase: Type.Optional(literals(PHASES, { description: "The last phase before terminating." })),
    failure: Type.Optional(Type.String({ maxLength: 128, description: "The reason of Ready, if it had failed." })),
    components: Type.Optional(Type.Object({ backend: Type.Optional(Component), frontend: Type.Optional(Component) })),
    configSet: Type.Optional(
      Type.Object({
        name: Type.String({ maxLength: 50 }),
        version: Type.Optional(Type.Integer({ format: "int64", minimum: 1 })),
      }),
    ),
    databaseProvisioned: Type.Optional(Type.Boolean()),
    owner,
    groups: Type.Optional(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 50 })),
    trigger,
    untold: Type.Optional(
      Type.String({
        maxLength: CONDITION_MESSAGE_MAX_LENGTH,
        description: "Why the host of its pull request was not told of its end.",
      }),
    ),
    forced: Type.Optional(Type.Array(ForcedStep, { maxItems: 16, description: "The steps that an admin skipped." })),
  },
  rules({ rule: "self == oldSelf", message: "a record is never changed" }),
);
export type RecordSpec = Static<typeof RecordSpec>;
