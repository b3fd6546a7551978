import { type ConfigSetVersion, revisionName } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { configurationOf, wantedConfiguration } from "../configuration.ts";
import { forbiddenOverride, grantedValues } from "../overrides.ts";
import { repositoriesOf, repositoryProblem } from "../repositories.ts";
import { done, type Findings, type Step, type StepContext, type StepResult } from "../step.ts";

/**
 * Settles the version of the config set, once: later ones reach the environment only when its spec names them. The
 * version is kept before the status names it, so that it can't go away in between.
 */
export const configuration: Step = {
  condition: "ConfigurationResolved",
  after: [],

  // A version that can't be had leaves the one before in force; an override that may not be is left out of what ran before.
  continueWithPrevious(environment, context) {
    const hasIt = environment.spec.configSet === undefined || configurationOf(environment, context) !== undefined;
    const hasRun = environment.status?.renderedSpecHash !== undefined;
    return hasIt && (hasRun || judged(environment, context) === undefined);
  },

  async run(environment, context) {
    const wanted = wantedConfiguration(environment, context);
    if (wanted !== undefined && "state" in wanted) return wanted;
    if (wanted !== undefined) await context.configSetVersions.keep(wanted);
    const found = {
      ...(wanted === undefined ? {} : findings(environment, wanted, context)),
      ...grants(environment, context),
    };
    const result = judged(environment, context) ?? done(isPlain(environment) ? "NotRequested" : "Resolved");
    return Object.keys(found).length === 0 ? result : { ...result, findings: found };
  },
};

/** What a Repository lists when it is asked for stays granted, until it is asked for no longer. */
function grants(environment: EphemeralEnvironment, { repositories }: StepContext): Findings {
  const former = environment.status?.grantedValues;
  const paths = grantedValues(environment, repositoriesOf(environment, repositories)).map(({ path }) => path);
  return former === undefined && paths.length === 0 ? {} : { grantedValues: paths };
}

const isPlain = ({ spec }: EphemeralEnvironment) => spec.configSet === undefined && spec.overrides === undefined;

/** What is wrong with the overrides, if anything is; only a Repository can tell. */
function judged(environment: EphemeralEnvironment, context: StepContext): StepResult | undefined {
  if (environment.spec.overrides === undefined) return undefined;
  const problem = repositoryProblem(environment, context);
  return problem ?? forbiddenOverride(environment, repositoriesOf(environment, context.repositories));
}

function findings(environment: EphemeralEnvironment, wanted: ConfigSetVersion, { settings }: StepContext): Findings {
  const { name, version, spec } = wanted;
  const configSet = { name, version, revision: revisionName(wanted) };
  const isFirst = environment.status?.configSet === undefined;
  if (!isFirst || spec.ttlDefaultHours === undefined) return { configSet };
  return { configSet, ttlHours: Math.min(spec.ttlDefaultHours, settings.ttl.maximumHours) };
}
