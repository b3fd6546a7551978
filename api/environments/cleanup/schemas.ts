import { type Static, Type } from "typebox";
import { closed } from "../../../crds/schema.ts";
import { Success, titled } from "../../schemas/fields.ts";

const EXAMPLE = { id: "3f0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10", name: "shop-test" };
const identity = { id: Type.String({ examples: [EXAMPLE.id] }), name: Type.String({ examples: [EXAMPLE.name] }) };

export const CleanupRequest = closed(
  {
    dry_run: Type.Optional(
      Type.Boolean({ default: false, description: "Reports what would be deleted, and deletes nothing." }),
    ),
    older_than_hours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 8760,
        default: 0,
        description: "Only environments that have been failed for this many hours.",
      }),
    ),
    include_running: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Also environments whose update failed while the former version still runs, or sleeps.",
      }),
    ),
  },
  titled("CleanupRequest", { dry_run: true, older_than_hours: 2 }),
);
export type CleanupRequest = Static<typeof CleanupRequest>;

const Cleaned = closed(identity, titled("CleanedEnvironment", EXAMPLE));
const Skipped = closed(
  { ...identity, reason: Type.String({ description: "Reason for not deleting it." }) },
  titled("SkippedEnvironment", { ...EXAMPLE, reason: "it is protected" }),
);
const Failed = closed(
  { id: Type.String({ examples: [EXAMPLE.id] }), detail: Type.String({ description: "The error." }) },
  titled("CleanupError", { id: EXAMPLE.id, detail: "Internal server error" }),
);

export const CleanupReply = closed({
  status: Success,
  message: Type.String({ examples: ["Deletion of 1 of 2 failed environments initiated"] }),
  cleaned: Type.Array(Cleaned, { description: "Environments whose deletion is initiated, or would be." }),
  skipped: Type.Array(Skipped),
  errors: Type.Array(Failed),
  total: Type.Integer({ description: "Number of failed environments that the caller may delete." }),
});
export type CleanupReply = Static<typeof CleanupReply>;
