import { limitRangeKind, networkPolicyKind, resourceQuotaKind } from "../../kinds.ts";
import { NameTaken } from "../../ports/cluster.ts";
import { DeployerUnavailable } from "../../ports/deployer.ts";
import { allowedTrafficObject, defaultDenyObject, limitRangeObject, quotaObject } from "../desired/isolation.ts";
import { chartOf, repositoriesOf } from "../repositories.ts";
import { done, failed, NAME_TAKEN_RECHECK_MS, type Step, type StepResult, waiting } from "../step.ts";

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
    try {
      await Promise.all([
        deployer.confine(metadata, chart),
        ...fences.map(([kind, object]) => cluster.ensure(metadata, kind, object)),
      ]);
    } catch (error) {
      return unfenced(error);
    }
    return done("Enforced");
  },
};

function unfenced(error: unknown): StepResult {
  if (error instanceof NameTaken)
    return { ...failed("NameTaken", error.message), recheckAfterMs: NAME_TAKEN_RECHECK_MS };
  if (error instanceof DeployerUnavailable) {
    return waiting("DeployerUnavailable", error.message, { recheckAfterMs: 5_000 });
  }
  throw error;
}
