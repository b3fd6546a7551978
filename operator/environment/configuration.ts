import { type ConfigSetVersion, currentVersion, revisionName } from "../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { mayHave } from "../../crds/repository/repository-use.ts";
import type { ConfigSets, ConfigSetVersions } from "../ports/config-sets.ts";
import { failed, type Unfinished } from "./step.ts";

interface Known {
  readonly configSets: ConfigSets;
  readonly configSetVersions: Pick<ConfigSetVersions, "find">;
}

/** The config set in the version that the environment keeps; `undefined` before one was settled, or for want of one. */
export function configurationOf({ status }: EphemeralEnvironment, known: Known): ConfigSetVersion | undefined {
  return status?.configSet && pinnedVersion(status.configSet, known);
}

/**
 * The version that the environment should have: the one that its spec names, else the one that it was made with, else
 * the one that the config set is now. `undefined` when it asks for none.
 */
export function wantedConfiguration(
  environment: EphemeralEnvironment,
  known: Known,
): ConfigSetVersion | Unfinished | undefined {
  if (environment.spec.configSet === undefined) return undefined;
  const { name } = environment.spec.configSet;
  const found = isSettled(environment) ? configurationOf(environment, known) : namedVersion(environment, known);
  if (found === undefined) return missing(environment, known);
  if (!isGranted(environment, known.configSets.find(name) ?? found)) return notShared(name);
  return found.spec.production ? forProduction(name) : found;
}

/** Whether the version that it was made with, or moved to, is the one that its spec asks for. */
function isSettled({ spec, status }: EphemeralEnvironment): boolean {
  const version = spec.configSet?.version;
  return status?.configSet !== undefined && (version === undefined || version === status.configSet.version);
}

/** Groups that change after the creation, as those of the Repositories do, concern it no more. */
const isGranted = (environment: EphemeralEnvironment, configSet: Pick<ConfigSetVersion, "spec">) =>
  environment.status?.configSet !== undefined || mayHave(environment, configSet);

/** What it should have, and while that can't be had, what it has: for steps that don't wait until it is settled. */
export function foreseenConfiguration(environment: EphemeralEnvironment, known: Known): ConfigSetVersion | undefined {
  const wanted = wantedConfiguration(environment, known);
  return wanted !== undefined && "state" in wanted ? configurationOf(environment, known) : wanted;
}

type Pinned = NonNullable<NonNullable<EphemeralEnvironment["status"]>["configSet"]>;

/** As it is kept; while the config set still is that very version, what is kept can be made anew of it. */
function pinnedVersion({ name, revision }: Pinned, { configSets, configSetVersions }: Known) {
  const kept = configSetVersions.find(revision);
  const current = configSets.find(name);
  if (kept !== undefined || current === undefined) return kept;
  const version = currentVersion(current);
  return revisionName(version) === revision ? version : undefined;
}

/** The current version, or one that is kept: of the config set as it is now, or of the one that the environment was made with. */
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
    return failed(
      "ConfigSetNotFound",
      `there is no config set '${name}': make it, or make the environment anew with another`,
    );
  }
  return failed(
    "ConfigSetVersionNotFound",
    `version ${version} of config set '${name}' is neither the current one nor kept: name another in spec.configSet.version`,
  );
}

function notShared(name: string): Unfinished {
  return failed(
    "ConfigSetNotShared",
    `config set '${name}' is for groups that this environment does not name: make the environment anew with one of them in spec.access.groups, or with another config set`,
  );
}

function forProduction(name: string): Unfinished {
  return failed(
    "ConfigSetForProduction",
    `config set '${name}' is for production, which no environment may use: make the environment anew with another`,
  );
}
