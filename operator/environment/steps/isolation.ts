import { limitRangeKind, networkPolicyKind, resourceQuotaKind } from "../../kinds.ts";
import { allowedTrafficObject, defaultDenyObject, limitRangeObject, quotaObject } from "../desired/isolation.ts";
import { chartOf, repositoriesOf } from "../repositories.ts";
import { done, type Step } from "../step.ts";

/** Fences the namespace and its deployer in before anything runs; what somebody changed or removed is restored. */
export const isolation: Step = {
  condition: "IsolationReady",
  after: ["NamespaceReady"],

  async run(environment, { cluster, deployer, repositories, settings }) {
    const fences = [
      [resourceQuotaKind, quotaObject(environment, settings.isolation)],
      [limitRangeKind, limitRangeObject(environment, settings.isolation)],
      [networkPolicyKind, defaultDenyObject(environment)],
      [networkPolicyKind, allowedTrafficObject(environment, settings.isolation)],
    ] as const;
    const chart = chartOf(repositoriesOf(environment, repositories), settings);
    const { metadata } = environment;
    await Promise.all([
      deployer.confine(metadata, chart),
      ...fences.map(([kind, object]) => cluster.ensure(metadata, kind, object)),
    ]);
    return done("Enforced");
  },
};
