import { type ConfigSetVersion, currentVersion, revisionName } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { mayHave } from "../../../crds/environment/repository-use.ts";
import type { ConfigSets, ConfigSetVersions } from "../../ports/config-sets.ts";
import { failed, type Unfinished } from "./step-result.ts";

interface Known {
  readonly configSets: Pick<ConfigSets, "find">;
  readonly configSetVersions: Pick<ConfigSetVersions, "find">;
}

/** Resolved config set version of the environment; `undefined` without one. */
export function configurationOf({ status }: EphemeralEnvironment, known: Known): ConfigSetVersion | undefined {
  return status?.configSet && pinnedVersion(status.configSet, known);
}

/**
 * Desired version of the config set: from the spec, else from the creation, else the current one. `undefined` without a
 * config set.
 */
export function wantedConfiguration(
  environment: EphemeralEnvironment,
  known: Known,
): ConfigSetVersion | Unfinished | undefined {
  if (environment.spec.configSet === undefined) return undefined;
  const { name } = environment.spec.configSet;
  const found = isResolved(environment) ? configurationOf(environment, known) : namedVersion(environment, known);
  if (found === undefined) return missing(environment, known);
  if (!isGranted(environment, known.configSets.find(name) ?? found)) return notShared(name);
  return found.spec.production ? forProduction(name) : found;
}

function isResolved({ spec, status }: EphemeralEnvironment): boolean {
  const version = spec.configSet?.version;
  return status?.configSet !== undefined && (version === undefined || version === status.configSet.version);
}

/**
 * True when the environment has a config set or may have this one: as with Repositories, a change of the groups affects
 * only new environments.
 */
const isGranted = (environment: EphemeralEnvironment, configSet: Pick<ConfigSetVersion, "spec">) =>
  environment.status?.configSet !== undefined || mayHave(environment, configSet);

/** The desired version, or the former one while that is unavailable: for parallel steps. */
export function foreseenConfiguration(environment: EphemeralEnvironment, known: Known): ConfigSetVersion | undefined {
  const wanted = wantedConfiguration(environment, known);
  return wanted !== undefined && "state" in wanted ? configurationOf(environment, known) : wanted;
}

type Pinned = NonNullable<NonNullable<EphemeralEnvironment["status"]>["configSet"]>;

/** The stored version, or the equal current one. */
function pinnedVersion({ name, revision }: Pinned, { configSets, configSetVersions }: Known) {
  const kept = configSetVersions.find(revision);
  const current = configSets.find(name);
  if (kept !== undefined || current === undefined) return kept;
  const version = currentVersion(current);
  return revisionName(version) === revision ? version : undefined;
}

/** The current version, or a stored one of the current config set or of the environment's first. */
function namedVersion(
  { spec, status }: EphemeralEnvironment,
  { configSets, configSetVersions }: Known,
): ConfigSetVersion | undefined {
  const { name = "", version } = spec.configSet ?? {};
  const configSet = configSets.find(name);
  const current = configSet && currentVersion(configSet);
  if (version === undefined || current?.version === version) return current;
  const revisions = [
    ...(current ? [revisionName({ ...current, version })] : []),
    ...(status?.configSet ? [status.configSet.revision.replace(/[0-9]+$/, String(version))] : []),
  ];
  return revisions.map((revision) => configSetVersions.find(revision)).find((kept) => kept !== undefined);
}

function missing({ spec, status }: EphemeralEnvironment, { configSets }: Known): Unfinished {
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
