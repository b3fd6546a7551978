import { type Static, Type } from "typebox";
import { closed } from "../../../crds/schema.ts";
import { BranchName, CommitSha, titled } from "../../schemas/fields.ts";
import { SleepRequest } from "../../schemas/sleep.ts";

const Branch = (component: string) =>
  Type.Optional(
    Type.String({
      ...BranchName,
      description: `Git branch that the ${component} moves to; its head, unless a commit is sent, too.`,
    }),
  );
const Commit = (component: string) =>
  Type.Optional(
    Type.String({
      ...CommitSha,
      description: `Commit SHA that the ${component} moves to. Empty: the head of its branch, read anew. A short one of 7 digits or more stands for that head and for no other commit.`,
    }),
  );

export const UpdateRequest = closed(
  {
    protected: Type.Optional(
      Type.Boolean({
        description:
          "Refuses deletion and expiry: without end when a maintainer protects, else until 168 hours after the expiry. A protection without end is removed by maintainers alone.",
      }),
    ),
    suspended: Type.Optional(
      Type.Boolean({
        description:
          "Scales everything to zero while true; secrets and data stay. false also wakes an environment that its schedule, or idleness, has asleep; outside its hours it then stays awake until the end of the next ones.",
      }),
    ),
    sleep: Type.Optional(SleepRequest),
    backend_branch: Branch("backend"),
    backend_commit: Commit("backend"),
    frontend_branch: Branch("frontend"),
    frontend_commit: Commit("frontend"),
    config_set_version: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1 }), Type.Literal("current")], {
        "x-refusal": "must be the version of the config set, or current",
        description:
          "Moves the environment to the current version of its config set: `current`, or that version's number, which is refused once there is a newer one.",
      }),
    ),
  },
  titled(
    "UpdateEnvironmentRequest",
    { backend_branch: "feature/cart" },
    {
      minProperties: 1,
      "x-refusal": "must name a field to change",
      description: "A field that is left out, or null, stays as it is.",
    },
  ),
);
export type UpdateRequest = Static<typeof UpdateRequest>;
