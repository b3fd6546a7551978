import { digestOf } from "../digest.ts";
import { COMPONENTS, type Component } from "../names.ts";
import { oncePer } from "../once-per.ts";
import { desiredCommit } from "./component-build.ts";
import type { Pipeline } from "./ephemeral-environment.schema.ts";
import type { EnvironmentSpec, EnvironmentStatus, SpecAndStatus } from "./ephemeral-environment.ts";

/** Spec fields without effect on the workload. */
const LIFETIME_FIELDS: ReadonlySet<string> = new Set([
  "ttlHours",
  "protected",
  "protectedUntil",
  "owner",
  "access",
  "trigger",
  "sleep",
] satisfies (keyof EnvironmentSpec)[]);

/** Hash of the desired workload, in 12 hex digits: an extension is no update. */
export const specHash = oncePer(({ backend, frontend, suspended = false, ...spec }: EnvironmentSpec): string => {
  const sources = [backend, frontend].map((source) => [
    source?.repository,
    source?.branch,
    source?.commit || "",
    ...(source?.mergeCommit === undefined ? [] : [source.mergeCommit.commit]),
  ]);
  const others = Object.entries(spec).filter(([field]) => !LIFETIME_FIELDS.has(field));
  return digestOf([sources, suspended, others.sort(([one], [other]) => (one < other ? -1 : 1))], 12);
});

/**
 * True when the application has the spec's commits and config set version. False while one is unknown or being built;
 * the application keeps the former ones until then.
 */
export function isAppliedAsSpecified(environment: SpecAndStatus): boolean {
  const { spec, status } = environment;
  const version = spec.configSet?.version;
  if (version !== undefined && status?.configSet?.version !== version) return false;
  return COMPONENTS.every((component) => {
    const source = spec[component];
    const applied = status?.sources?.[component]?.applied;
    if (source === undefined) return true;
    return applied?.branch === source.branch && applied.commit === desiredCommit(environment, component);
  });
}

/** Hash of the running values, from `<chart revision>+<hash>`: a chart version may have its own `+`. */
export function runningHash(status: EnvironmentStatus | undefined): string | undefined {
  return status?.components?.backend?.revision?.split("+").at(-1);
}

/**
 * True when the spec's workload runs and its URLs answered; for a suspended environment, when all is scaled to zero.
 */
export function isServing(environment: SpecAndStatus): boolean {
  const { spec, status } = environment;
  const isRunning = status?.desiredHash !== undefined && runningHash(status) === status.desiredHash;
  const isSpecified = isAppliedAsSpecified(environment) && status?.renderedSpecHash === specHash(spec);
  return isRunning && isSpecified && (spec.suspended === true || status?.servingHash === status?.desiredHash);
}

/** Pipelines of the commits that the environment should run. */
export function pipelinesOfDesiredCommits(
  environment: SpecAndStatus,
): (Pipeline & { readonly component: Component })[] {
  return COMPONENTS.flatMap((component) => {
    const { pipelines = [] } = environment.spec[component] ?? {};
    const desired = desiredCommit(environment, component);
    return pipelines.filter(({ commit }) => commit === desired).map((pipeline) => ({ ...pipeline, component }));
  });
}
