import type { Settings } from "../../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Kind } from "../../../../crds/group.ts";
import { limitRangeKind, networkPolicyKind, resourceQuotaKind, serviceAccountKind } from "../../../kit/client/kinds.ts";
import type { Cluster, DesiredObject } from "../../../ports/cluster.ts";
import { type ConfigSetSources, foreseenConfiguration } from "../configuration.ts";
import { type CopySources, copyPolicies } from "../database-copies.ts";
import {
  allowedTrafficObject,
  defaultAccountObject,
  defaultDenyObject,
  limitRangeObject,
  priorityQuotaObject,
  quotaObject,
} from "../desired/isolation.ts";
import { NotIsolated, type Step, type StepContext } from "../step.ts";
import { done } from "../step-result.ts";

interface IsolationDependencies extends ConfigSetSources, CopySources {
  readonly settings: Settings;
  readonly cluster: Cluster;
}

/** Isolates the namespace before anything runs in it, and repairs its isolation objects. */
export function isolation(dependencies: IsolationDependencies): Step {
  return {
    condition: "IsolationReady",
    writes: [],
    after: ["NamespaceReady"],

    async run(environment) {
      const { cluster } = dependencies;
      const { metadata } = environment;
      await Promise.all([
        ...isolationObjects(environment, dependencies).map(([kind, object]) => cluster.ensure(metadata, kind, object)),
        cluster.adopt(metadata, serviceAccountKind, defaultAccountObject(environment)),
      ]);
      return done("Enforced");
    },
  };
}

/**
 * Await before writing pods' prerequisites into the namespace: in a namespace recreated under an existing application,
 * pods start at once.
 *
 * @throws NotIsolated while the namespace is not isolated
 */
export async function whenIsolated({ canContinueAfter }: StepContext): Promise<void> {
  if (!(await canContinueAfter("IsolationReady"))) throw new NotIsolated();
}

function isolationObjects(
  environment: EphemeralEnvironment,
  context: IsolationDependencies,
): readonly (readonly [Kind, DesiredObject])[] {
  const { isolation: settings } = context.settings;
  const configSet = foreseenConfiguration(environment, context);
  const quota = [resourceQuotaKind, quotaObject(environment, settings, configSet?.spec.quota)] as const;
  // Without its config set nothing new runs there, and running pods keep their quota.
  const isQuotaKnown = environment.spec.configSet === undefined || configSet !== undefined;
  return [
    ...(isQuotaKnown ? [quota] : []),
    [resourceQuotaKind, priorityQuotaObject(environment, settings)],
    [limitRangeKind, limitRangeObject(environment, settings)],
    [networkPolicyKind, defaultDenyObject(environment)],
    [networkPolicyKind, allowedTrafficObject(environment, context.settings)],
    ...copyPolicies(environment, context).map((policy) => [networkPolicyKind, policy] as const),
  ];
}
