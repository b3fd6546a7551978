import { type Static, Type } from "typebox";
import { literals, timestamp } from "../schema.ts";

/** Fields of the spec that the REST interface changes, too. */
const Switches = Type.Object(
  {
    ttlHours: Type.Optional(Type.Integer({ description: "`spec.ttlHours` of the manifest." })),
    protected: Type.Optional(Type.Boolean({ description: "`spec.protected` of the manifest." })),
    protectedUntil: Type.Optional(
      Type.String({ maxLength: 64, description: "`spec.protectedUntil` of the manifest." }),
    ),
    suspended: Type.Optional(Type.Boolean({ description: "`spec.suspended` of the manifest." })),
  },
  { description: "Values of these fields in the manifest, also while the REST interface's value replaces them." },
);

export type Switches = Static<typeof Switches>;

const noted = {
  specHash: Type.String({ maxLength: 64, description: "Hash of the other fields that the GitOps tool sent." }),
  switches: Switches,
  renew: Type.Optional(
    Type.String({ maxLength: 128, description: "The value of the annotation ephemeral-environments.dev/renew." }),
  ),
};

/** A manifest as its GitOps tool sent it, without later writes of other field managers. */
export const NotedManifest = Type.Object(noted, {
  description: "The manifest of the GitOps tool, without what other field managers wrote later.",
});
export type NotedManifest = Static<typeof NotedManifest>;

/** Causes after which the same manifest is not built again. */
export const FINAL_CAUSES = ["expired", "deletedByUser"] as const;
export type FinalCause = (typeof FINAL_CAUSES)[number];

/** Causes for the deletion of an environment that Git or a webhook may bring back. */
export const DELETION_CAUSES = [...FINAL_CAUSES, "pruned", "cleanup"] as const;
export type DeletionCause = (typeof DELETION_CAUSES)[number];

export const ManifestStatus = Type.Object(
  {
    ...noted,
    writtenAt: timestamp("Last write of the GitOps tool, by its managedFields."),
    fieldsHash: Type.String({ maxLength: 64, description: "Hash of which fields the GitOps tool owned then." }),
    refusedAfter: Type.Optional(
      literals(FINAL_CAUSES, {
        description: "Reason for not building the environment: the end of the former one of the same manifest.",
      }),
    ),
    builtFrom: Type.Optional(
      timestamp("Begin of the TTL, for an environment that was not built at first; else its creation."),
    ),
  },
  { description: "Last manifest of the GitOps tool; absent for other environments." },
);
export type ManifestStatus = Static<typeof ManifestStatus>;
