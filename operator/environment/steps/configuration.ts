import type { ConfigSetVersion } from "../../../crds/config-set.ts";
import { revisionName } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import { configurationOf, wantedConfiguration } from "../configuration.ts";
import { forbiddenOverride } from "../overrides.ts";
import { missingRepository, repositoriesOf } from "../repositories.ts";
import { done, type Findings, type Step, type StepContext, type StepResult } from "../step.ts";

/**
 * Settles the version of the config set, once: later ones reach the environment only when its spec names them. The
 * version is kept before the status names it, so that it can't go away in between.
 */
export const configuration: Step = {
  condition: "ConfigurationResolved",
  after: [],

  // A version that can't be had leaves the one before in force.
  stands(environment, context) {
    const hasIt = environment.spec.configSet === undefined || configurationOf(environment, context) !== undefined;
    return hasIt && judged(environment, context) === undefined;
  },

  async run(environment, context) {
    const wanted = wantedConfiguration(environment, context);
    if (wanted !== undefined && "state" in wanted) return wanted;
    if (wanted !== undefined) await context.configSetVersions.keep(wanted);
    const found = wanted === undefined ? {} : { findings: findings(environment, wanted, context) };
    const problem = judged(environment, context);
    if (problem !== undefined) return { ...problem, ...found };
    return done(isPlain(environment) ? "NotRequested" : "Resolved", found);
  },
};

const isPlain = ({ spec }: EphemeralEnvironment) => spec.configSet === undefined && spec.overrides === undefined;

/** What is wrong with the overrides, if anything is; only a Repository can tell. */
function judged(environment: EphemeralEnvironment, { repositories }: StepContext): StepResult | undefined {
  if (environment.spec.overrides === undefined) return undefined;
  const known = repositoriesOf(environment, repositories);
  return missingRepository(environment, known) ?? forbiddenOverride(environment, known);
}

function findings(environment: EphemeralEnvironment, wanted: ConfigSetVersion, { settings }: StepContext): Findings {
  const { name, version, spec } = wanted;
  const configSet = { name, version, revision: revisionName(wanted) };
  const isFirst = environment.status?.configSet === undefined;
  if (!isFirst || spec.ttlDefaultHours === undefined) return { configSet };
  return { configSet, ttlHours: Math.min(spec.ttlDefaultHours, settings.ttl.maximumHours) };
}
