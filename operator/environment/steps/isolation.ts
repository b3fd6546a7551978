import { limitRangeKind, networkPolicyKind, resourceQuotaKind } from "../../kinds.ts";
import { allowedTrafficObject, defaultDenyObject, limitRangeObject, quotaObject } from "../desired/isolation.ts";
import { done, type Step } from "../step.ts";

/** Fences the namespace in before anything runs in it; what somebody changed or removed is restored. */
export const isolation: Step = {
  condition: "IsolationReady",
  after: ["NamespaceReady"],

  async run(environment, { cluster, settings }) {
    const fences = [
      [resourceQuotaKind, quotaObject(environment, settings.isolation)],
      [limitRangeKind, limitRangeObject(environment, settings.isolation)],
      [networkPolicyKind, defaultDenyObject(environment)],
      [networkPolicyKind, allowedTrafficObject(environment, settings.isolation)],
    ] as const;
    await Promise.all(fences.map(([kind, object]) => cluster.ensure(environment.metadata, kind, object)));
    return done("Enforced");
  },
};
