import { type Static, Type } from "typebox";
import { described, map, rules } from "../schema.ts";

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set */
const LABEL_KEY_PATTERN = "^([a-z0-9][a-z0-9.-]*/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$";
const LABEL_VALUE_PATTERN = "^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$";
/** A prefix of 253 characters, a slash and a name of 63. */
const LABEL_KEY_MAX_LENGTH = 317;

const Labels = map(Type.String({ maxLength: 63, pattern: LABEL_VALUE_PATTERN }), {
  minProperties: 1,
  maxProperties: 10,
  description: "The labels that all of its pods have.",
  ...rules({
    rule: `self.all(key, key.size() <= ${LABEL_KEY_MAX_LENGTH} && key.matches('${LABEL_KEY_PATTERN}'))`,
    message: "a key is no name of a label, such as app.kubernetes.io/name",
  }),
});

const Selector = Type.Object({ labels: Labels });

/** Selectors of a chart's pods, by component. */
export const Workloads = Type.Object(
  {
    backend: Type.Optional(described(Selector, "The pods of the backend.")),
    frontend: Type.Optional(described(Selector, "The pods of the frontend.")),
  },
  {
    description:
      "Labels of the pods of its environments' chart by component: for logs, problems and the commit that runs. Without them, pods are found by the labels ephemeral-environments.dev/component, app.kubernetes.io/component and app.kubernetes.io/name, the first that any pod has with the component's name; else they are all pods of no other component. Only of a backend.",
  },
);
export type Workloads = Static<typeof Workloads>;
