import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { Kind } from "../../../crds/group.ts";
import { limitRangeKind, networkPolicyKind, resourceQuotaKind } from "../../kit/client/kinds.ts";
import type { DesiredObject } from "../../ports/cluster.ts";
import { foreseenConfiguration } from "../configuration.ts";
import {
  allowedTrafficObject,
  defaultDenyObject,
  limitRangeObject,
  priorityQuotaObject,
  quotaObject,
} from "../desired/isolation.ts";
import { done, NotIsolated, type Step, type StepContext } from "../step.ts";

/** Fences the namespace in before anything can run there; what somebody changed or removed is restored. */
export const isolation: Step = {
  condition: "IsolationReady",
  after: ["NamespaceReady"],

  async run(environment, context) {
    const { cluster } = context;
    const { metadata } = environment;
    await Promise.all(
      isolationObjects(environment, context).map(([kind, object]) => cluster.ensure(metadata, kind, object)),
    );
    return done("Enforced");
  },
};

/**
 * To be awaited before anything that pods can't do without is written into the namespace: one that was made anew while
 * its application stays has pods as soon as that is there.
 *
 * @throws NotIsolated while the isolation of the namespace does not stand
 */
export async function whenIsolated({ passes }: StepContext): Promise<void> {
  if (!(await passes("IsolationReady"))) throw new NotIsolated();
}

function isolationObjects(
  environment: EphemeralEnvironment,
  context: StepContext,
): readonly (readonly [Kind, DesiredObject])[] {
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
