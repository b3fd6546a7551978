import { type ConfigSetVersion, currentVersion, revisionName } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { mayHave } from "../../../crds/environment/repository-use.ts";
import type { ConfigSets, ConfigSetVersions } from "../../ports/config-sets.ts";
import { failed, type Unfinished } from "./step-result.ts";

/** The config sets that environments may name, and the versions that they have. */
export interface ConfigSetSources {
  readonly configSets: ConfigSets;
  readonly configSetVersions: ConfigSetVersions;
}

/** Resolved config set version of the environment, the stored or the equal current one; `undefined` without one. */
export function configurationOf(
  { status }: EphemeralEnvironment,
  { configSets, configSetVersions }: ConfigSetSources,
): ConfigSetVersion | undefined {
  if (status?.configSet === undefined) return undefined;
  const { name, revision } = status.configSet;
  const version = configSetVersions.find(revision);
  const configSet = configSets.find(name);
  if (version !== undefined || configSet === undefined) return version;
  const current = currentVersion(configSet);
  return revisionName(current) === revision ? current : undefined;
}

/** Desired version of the config set: the spec's, else the creation's, else the current one; `undefined` without one. */
export function desiredConfiguration(
  environment: EphemeralEnvironment,
  sources: ConfigSetSources,
): ConfigSetVersion | Unfinished | undefined {
  if (environment.spec.configSet === undefined) return undefined;
  const { name } = environment.spec.configSet;
  const version = isResolved(environment) ? configurationOf(environment, sources) : namedVersion(environment, sources);
  if (version === undefined) return missing(environment, sources);
  // As with Repositories, a change of the groups affects only new environments.
  const isGranted = environment.status?.configSet !== undefined;
  if (!isGranted && !mayHave(environment, sources.configSets.find(name) ?? version)) return notShared(name);
  return version.spec.production ? forProduction(name) : version;
}

function isResolved({ spec, status }: EphemeralEnvironment): boolean {
  const version = spec.configSet?.version;
  return status?.configSet !== undefined && (version === undefined || version === status.configSet.version);
}

/** The desired version, or the former one while that is unavailable: for parallel steps. */
export function foreseenConfiguration(
  environment: EphemeralEnvironment,
  sources: ConfigSetSources,
): ConfigSetVersion | undefined {
  const desired = desiredConfiguration(environment, sources);
  return desired !== undefined && "state" in desired ? configurationOf(environment, sources) : desired;
}

/** The current version, or a stored one of the current config set or of the environment's first. */
function namedVersion(
  { spec, status }: EphemeralEnvironment,
  { configSets, configSetVersions }: ConfigSetSources,
): ConfigSetVersion | undefined {
  const { name = "", version } = spec.configSet ?? {};
  const configSet = configSets.find(name);
  const current = configSet && currentVersion(configSet);
  if (version === undefined || current?.version === version) return current;
  const revisions = [
    ...(current ? [revisionName({ ...current, version })] : []),
    ...(status?.configSet ? [status.configSet.revision.replace(/[0-9]+$/, String(version))] : []),
  ];
  return revisions.map((revision) => configSetVersions.find(revision)).find((stored) => stored !== undefined);
}

function missing({ spec, status }: EphemeralEnvironment, { configSets }: ConfigSetSources): Unfinished {
  const { name = "", version = status?.configSet?.version } = spec.configSet ?? {};
  if (configSets.find(name) === undefined && status?.configSet === undefined) {
    const message = `there is no config set '${name}': create it, or create the environment again with another one`;
    return failed("ConfigSetNotFound", message);
  }
  const message = `version ${version} of config set '${name}' is neither current nor stored: name another one in spec.configSet.version`;
  return failed("ConfigSetVersionNotFound", message);
}

function notShared(name: string): Unfinished {
  const message = `config set '${name}' is not shared with the groups of this environment: create the environment again with one of its groups in spec.access.groups, or with another config set`;
  return failed("ConfigSetNotShared", message);
}

function forProduction(name: string): Unfinished {
  const message = `config set '${name}' is for production, which no environment may use: create the environment again with another one`;
  return failed("ConfigSetForProduction", message);
}
