import { namespaceName } from "../../../../crds/names.ts";
import { namespaceKind } from "../../../kit/client/kinds.ts";
import type { Cluster } from "../../../ports/cluster.ts";
import { namespaceObject } from "../desired/namespace.ts";
import type { Step } from "../step.ts";
import { done } from "../step-result.ts";

/** Creates the environment's namespace; a foreign one of that name is never changed. */
export function namespace({ cluster }: { readonly cluster: Cluster }): Step {
  return {
    condition: "NamespaceReady",
    writes: ["namespace"],
    after: [],

    async run(environment) {
      await cluster.ensure(environment.metadata, namespaceKind, namespaceObject(environment));
      return done("Created", { findings: { namespace: namespaceName(environment.metadata.name) } });
    },
  };
}
