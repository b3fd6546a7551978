import { type Static, Type } from "typebox";
import { closed, literals } from "../../../crds/schema.ts";
import { titled } from "../../schemas/fields.ts";
import { ListedReport } from "../schemas.ts";

/** An event of the list's stream. */
export const ChangedEnvironment = closed(
  {
    type: literals(["opened", "changed", "removed"], {
      description:
        "`opened` comes first: a list that is read from now on has all that changed before. `changed`: made or changed. `removed`: gone, or not visible any more.",
    }),
    id: Type.Optional(Type.String({ description: "The environment's id; not with `opened`." })),
    name: Type.Optional(Type.String({ description: "The environment's name; not with `opened`." })),
    environment: Type.Optional(ListedReport),
  },
  titled("ChangedEnvironment", {
    type: "removed",
    id: "3f0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10",
    name: "shop-test",
  }),
);
export type ChangedEnvironment = Static<typeof ChangedEnvironment>;
