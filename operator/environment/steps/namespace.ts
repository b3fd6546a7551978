import { namespaceName } from "../../../crds/names.ts";
import { namespaceKind } from "../../kinds.ts";
import { BeingDeleted, NameTaken } from "../../ports/cluster.ts";
import { namespaceObject } from "../desired/namespace.ts";
import { done, failed, NAME_TAKEN_RECHECK_MS, type Step, waiting } from "../step.ts";

/** Gives the environment a namespace of its own; one of that name that is somebody else's is never touched. */
export const namespace: Step = {
  condition: "NamespaceReady",
  after: [],

  async run(environment, { cluster }) {
    const name = namespaceName(environment.metadata.name);
    try {
      await cluster.ensure(environment.metadata, namespaceKind, namespaceObject(environment));
    } catch (error) {
      if (error instanceof NameTaken)
        return { ...failed("NameTaken", error.message), recheckAfterMs: NAME_TAKEN_RECHECK_MS };
      if (error instanceof BeingDeleted) {
        return waiting("NamespaceTerminating", `namespace '${name}' is still being deleted`, { recheckAfterMs: 2_000 });
      }
      throw error;
    }
    return done("Created", { findings: { namespace: name } });
  },
};
