import type { Settings } from "../../../../config/settings.ts";
import { type ConfigSetSpec, type ConfigSetVersion, revisionName } from "../../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { isServing } from "../../../../crds/environment/progress.ts";
import { present } from "../../../../crds/present.ts";
import { mappingOf, readableMapping } from "../../../../crds/repository/values-mapping.ts";
import { type ConfigSetSources, configurationOf, desiredConfiguration } from "../configuration.ts";
import { excessiveVariables, forbiddenOverride, grantedValues } from "../overrides.ts";
import { componentRepositories, type RepositorySources, repositoryProblem } from "../repositories.ts";
import type { Step } from "../step.ts";
import { done, type Findings, failed, type Unfinished, waiting, withFindings } from "../step-result.ts";

interface ConfigurationDependencies extends ConfigSetSources, RepositorySources {
  readonly settings: Settings;
}

/**
 * Resolves the config set's version, once: later versions need the spec to name them. The version is stored before the
 * status names it, so that it can't be discarded in between.
 */
export function configuration(dependencies: ConfigurationDependencies): Step {
  return {
    condition: "ConfigurationResolved",
    writes: ["configSet", "grantedValues"],
    after: [],

    // A missing version leaves the former one; a forbidden override does not affect what ran before; unreadable chart
    // values leave the workload alone.
    continueWithPrevious(environment) {
      const version = configurationOf(environment, dependencies);
      const hasVersion = environment.spec.configSet === undefined || version !== undefined;
      if (!hasVersion || unreadableValues(environment, version?.spec, dependencies) !== undefined) return false;
      const hasRun = environment.status?.renderedSpecHash !== undefined;
      return hasRun || overrideProblem(environment, version?.spec, dependencies) === undefined;
    },

    async run(environment) {
      const version = desiredConfiguration(environment, dependencies);
      if (version !== undefined && "state" in version) return version;
      if (version !== undefined) await dependencies.configSetVersions.keep(version);
      const unreadable = unreadableValues(environment, version?.spec, dependencies);
      if (unreadable !== undefined) return withFindings(unreadable, pinnedVersion(version));
      const problem = overrideProblem(environment, version?.spec, dependencies);
      const result = problem ?? done(isPlain(environment) ? "NotRequested" : "Resolved");
      return withFindings(result, { ...pinnedVersion(version), ...grants(environment, version?.spec, dependencies) });
    },
  };
}

/** Fallback: a change of the Repository enqueues the environment. */
const UNREADABLE_RECHECK_MS = 600_000;

/** Unreadable chart values fail no environment that has its desired state. */
function unreadableValues(
  environment: EphemeralEnvironment,
  configSet: ConfigSetSpec | undefined,
  context: ConfigurationDependencies,
): Unfinished | undefined {
  const repositories = componentRepositories(environment, context.repositories);
  const mapping = mappingOf({ repositories, configSet }, context.settings);
  if (mapping === undefined || !("problem" in mapping)) return undefined;
  const reason = "ValuesInvalid";
  if (!isServing(environment)) return failed(reason, mapping.problem);
  return waiting(reason, mapping.problem, { requeueAfterMs: UNREADABLE_RECHECK_MS });
}

function allowing(
  environment: EphemeralEnvironment,
  configSet: ConfigSetSpec | undefined,
  context: ConfigurationDependencies,
) {
  const repositories = componentRepositories(environment, context.repositories);
  return { repositories, mapping: readableMapping({ repositories, configSet }, context.settings) };
}

const isPlain = ({ spec }: EphemeralEnvironment) => spec.configSet === undefined && spec.overrides === undefined;

function pinnedVersion(resolved: ConfigSetVersion | undefined): Findings {
  if (resolved === undefined) return {};
  const { name, version, spec } = resolved;
  const { ttlDefaultHours, sleep } = spec;
  return { configSet: { name, version, revision: revisionName(resolved), ...present({ ttlDefaultHours, sleep }) } };
}

/** A path stays granted until it is no longer requested, even if the Repository drops it. */
function grants(
  environment: EphemeralEnvironment,
  configSet: ConfigSetSpec | undefined,
  context: ConfigurationDependencies,
): Findings {
  const former = environment.status?.grantedValues;
  const paths = grantedValues(environment, allowing(environment, configSet, context)).map(({ path }) => path);
  return former === undefined && paths.length === 0 ? {} : { grantedValues: paths };
}

/** Problem of the overrides and variables; only the Repository can allow an override. */
function overrideProblem(
  environment: EphemeralEnvironment,
  configSet: ConfigSetSpec | undefined,
  context: ConfigurationDependencies,
): Unfinished | undefined {
  const excess = excessiveVariables(environment, configSet);
  if (environment.spec.overrides === undefined) return excess;
  const problem = repositoryProblem(environment, context) ?? excess;
  return problem ?? forbiddenOverride(environment, allowing(environment, configSet, context));
}
