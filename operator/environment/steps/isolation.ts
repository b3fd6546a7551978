import type { EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import type { Kind } from "../../../crds/group.ts";
import { limitRangeKind, networkPolicyKind, resourceQuotaKind } from "../../kinds.ts";
import type { DesiredObject } from "../../ports/cluster.ts";
import { foreseenConfiguration } from "../configuration.ts";
import {
  allowedTrafficObject,
  defaultDenyObject,
  limitRangeObject,
  priorityQuotaObject,
  quotaObject,
} from "../desired/isolation.ts";
import { chartOf, repositoriesOf } from "../repositories.ts";
import { done, type Step, type StepContext } from "../step.ts";

/** Fences the namespace and its deployer in before anything runs; what somebody changed or removed is restored. */
export const isolation: Step = {
  condition: "IsolationReady",
  after: ["NamespaceReady"],

  async run(environment, context) {
    const { cluster, deployer, repositories, settings } = context;
    const { metadata } = environment;
    const { backend } = repositoriesOf(environment, repositories);
    await Promise.all([
      // Its Repository alone tells which chart it has: while that is not there, the deployer stays confined as it is.
      ...(backend === undefined ? [] : [deployer.confine(metadata, chartOf({ backend }, settings))]),
      ...fences(environment, context).map(([kind, object]) => cluster.ensure(metadata, kind, object)),
    ]);
    return done("Enforced");
  },
};

function fences(environment: EphemeralEnvironment, context: StepContext): readonly (readonly [Kind, DesiredObject])[] {
  const { isolation: settings } = context.settings;
  const configSet = foreseenConfiguration(environment, context);
  const quota = [resourceQuotaKind, quotaObject(environment, settings, configSet?.spec.quota)] as const;
  // Until its config set is known nothing new runs there, and what ran before keeps the quota that it has.
  const isQuotaKnown = environment.spec.configSet === undefined || configSet !== undefined;
  return [
    ...(isQuotaKnown ? [quota] : []),
    [resourceQuotaKind, priorityQuotaObject(environment, settings)],
    [limitRangeKind, limitRangeObject(environment, settings)],
    [networkPolicyKind, defaultDenyObject(environment)],
    [networkPolicyKind, allowedTrafficObject(environment, context.settings)],
  ];
}
