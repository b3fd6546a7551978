import { type ConfigSetVersion, revisionName } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { configurationOf, foreseenConfiguration, wantedConfiguration } from "../configuration.ts";
import { excessiveVariables, forbiddenOverride, grantedValues } from "../overrides.ts";
import { repositoriesOf, repositoryProblem } from "../repositories.ts";
import type { Step, StepContext } from "../step.ts";
import { done, type Findings, type Unfinished, withFindings } from "../step-result.ts";

type Field = "configSet" | "grantedValues";

/**
 * Resolves the version of the config set, once: later versions reach the environment only when its spec names them. The
 * version is stored before the status names it, so it can't be discarded in between.
 */
export const configuration: Step<Field> = {
  condition: "ConfigurationResolved",
  writes: ["configSet", "grantedValues"],
  after: [],

  // Without the wanted version the former one applies; a forbidden override does not change what has run before.
  continueWithPrevious(environment, context) {
    const hasVersion = environment.spec.configSet === undefined || configurationOf(environment, context) !== undefined;
    const hasRun = environment.status?.renderedSpecHash !== undefined;
    return hasVersion && (hasRun || overrideProblem(environment, context) === undefined);
  },

  async run(environment, context) {
    const wanted = wantedConfiguration(environment, context);
    if (wanted !== undefined && "state" in wanted) return wanted;
    if (wanted !== undefined) await context.configSetVersions.keep(wanted);
    const result = overrideProblem(environment, context) ?? done(isPlain(environment) ? "NotRequested" : "Resolved");
    return withFindings(result, { ...versionOf(wanted), ...grants(environment, context) });
  },
};

const isPlain = ({ spec }: EphemeralEnvironment) => spec.configSet === undefined && spec.overrides === undefined;

function versionOf(wanted: ConfigSetVersion | undefined): Findings<"configSet"> {
  if (wanted === undefined) return {};
  const { name, version, spec } = wanted;
  const configSet = { name, version, revision: revisionName(wanted) };
  const { ttlDefaultHours } = spec;
  return { configSet: ttlDefaultHours === undefined ? configSet : { ...configSet, ttlDefaultHours } };
}

/** A path stays granted until it is no longer requested, also when the Repository no longer lists it. */
function grants(environment: EphemeralEnvironment, { repositories }: StepContext): Findings<"grantedValues"> {
  const former = environment.status?.grantedValues;
  const paths = grantedValues(environment, repositoriesOf(environment, repositories)).map(({ path }) => path);
  return former === undefined && paths.length === 0 ? {} : { grantedValues: paths };
}

/** What is wrong with the overrides and variables; whether an override is allowed, only the Repository can tell. */
function overrideProblem(environment: EphemeralEnvironment, context: StepContext): Unfinished | undefined {
  const excess = excessiveVariables(environment, foreseenConfiguration(environment, context)?.spec);
  if (environment.spec.overrides === undefined) return excess;
  const problem = repositoryProblem(environment, context) ?? excess;
  return problem ?? forbiddenOverride(environment, repositoriesOf(environment, context.repositories));
}
