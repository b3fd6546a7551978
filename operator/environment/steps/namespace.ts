import { namespaceName } from "../../../crds/names.ts";
import { namespaceKind } from "../../kit/client/kinds.ts";
import { namespaceObject } from "../desired/namespace.ts";
import { done, type Step } from "../step.ts";

/** Gives the environment a namespace of its own; one of that name that is somebody else's is never touched. */
export const namespace: Step = {
  condition: "NamespaceReady",
  after: [],

  async run(environment, { cluster }) {
    await cluster.ensure(environment.metadata, namespaceKind, namespaceObject(environment));
    return done("Created", { findings: { namespace: namespaceName(environment.metadata.name) } });
  },
};
