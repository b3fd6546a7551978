/** Settings of the canary: an environment that the platform makes for itself, to notice that creations fail. */
import { Type } from "typebox";
import { closed } from "../crds/schema.ts";

export const Canary = Type.Optional(
  closed(
    {
      repository: Type.String({
        minLength: 1,
        maxLength: 50,
        description: "Name of the backend Repository that it is made of, from its default branch.",
      }),
      everyMinutes: Type.Integer({
        minimum: 5,
        maximum: 10_080,
        default: 60,
        description: "Time between the begins of two canaries.",
      }),
    },
    {
      description:
        "Makes an environment now and then, and deletes it once it is ready or failed: an unused platform would otherwise not notice its own failures. Service levels count it like any other. Off when left out.",
    },
  ),
);
