import { type Static, Type } from "typebox";
import { literals, text, timestamp } from "../schema.ts";

/** Announcements of an environment that were made. */
export const Announced = Type.Object(
  {
    event: literals(["unannounced", "created", "ready", "updated", "failed"], {
      description: "unannounced: the message about the creation could not be made yet.",
    }),
    at: timestamp("The transition of Ready that it was; of created, the creation."),
    serving: Type.Optional(text(64, "`servingHash` at that time.")),
    pipelines: Type.Optional(
      Type.Object(
        {
          backend: Type.Optional(text(255, "Pipeline of the backend, as <project>#<id>/<status>/<attempt or time>.")),
          frontend: Type.Optional(text(255, "Pipeline of the frontend, as <project>#<id>/<status>/<attempt or time>.")),
        },
        {
          description:
            "The last pipeline that ended, by component: project, id, status, and its attempt or the time of its end.",
        },
      ),
    ),
    expiry: Type.Optional(
      Type.Object(
        {
          at: timestamp("The expiry that the warnings were about."),
          hours: Type.Optional(
            Type.Integer({ description: "The last of the warnings that is over, by the hours before the expiry." }),
          ),
        },
        { description: "Warnings that the owner needs no more." },
      ),
    ),
  },
  { description: "Announcements of the environment, so that each is made once; absent where none are to be made." },
);
export type Announced = Static<typeof Announced>;
