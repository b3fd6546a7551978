import { type Static, Type } from "typebox";
import { literals, Timestamp } from "../schema.ts";

/** What of an environment was announced already. */
export const Announced = Type.Object(
  {
    event: literals(["unannounced", "created", "ready", "updated", "failed"], {
      description: "unannounced: the message about the creation could not be made yet.",
    }),
    at: Type.String({
      ...Timestamp,
      description: "The transition of Ready that it was; of created, the creation.",
    }),
    serving: Type.Optional(Type.String({ maxLength: 64, description: "`servingHash` at that time." })),
    pipelines: Type.Optional(
      Type.Object(
        {
          backend: Type.Optional(Type.String({ maxLength: 255 })),
          frontend: Type.Optional(Type.String({ maxLength: 255 })),
        },
        { description: "The last pipeline that ended, by component: project, id and status." },
      ),
    ),
    expiry: Type.Optional(
      Type.Object(
        {
          at: Type.String({ ...Timestamp, description: "The expiry that the warnings were about." }),
          hours: Type.Optional(
            Type.Integer({ description: "The last of the warnings that is over, by the hours before the expiry." }),
          ),
        },
        { description: "Which warnings the owner needs no more." },
      ),
    ),
  },
  { description: "What was told of the environment, so that it is told once; absent where nothing is to be told." },
);
export type Announced = Static<typeof Announced>;
