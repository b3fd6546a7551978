import type { Pipeline } from "../../crds/environment/ephemeral-environment.schema.ts";
import type {
  EnvironmentSpec,
  EnvironmentStatus,
  EphemeralEnvironment,
} from "../../crds/environment/ephemeral-environment.ts";
import { COMPONENTS, type Component } from "../../crds/names.ts";
import { shortHash } from "./short-hash.ts";

type Judged = Pick<EphemeralEnvironment, "spec" | "status">;

/** Tells one wish from another: only what decides what runs counts, so that an extension is no update. */
export function askedHash({ backend, frontend, ...spec }: EnvironmentSpec): string {
  const sources = [backend, frontend].map((source) => [source?.repository, source?.branch, source?.commit || ""]);
  return shortHash([sources, spec.database, spec.secrets, spec.configSet, spec.overrides, spec.suspended ?? false]);
}

/** The commit that a component should run; `undefined` while the head of its branch is not known. */
export function wantedCommit({ spec, status }: Judged, component: Component): string | undefined {
  const { branch, commit } = spec[component] ?? {};
  const resolved = status?.components?.[component]?.resolved;
  return commit || (resolved?.branch === branch ? resolved?.commit : undefined);
}

/**
 * Whether the application was given the sources and the version of the config set that the spec asks for: not so while
 * one of them is unknown or being built, and what was before stands.
 */
export function isAsAsked(environment: Judged): boolean {
  const { spec, status } = environment;
  const version = spec.configSet?.version;
  if (version !== undefined && status?.configSet?.version !== version) return false;
  return COMPONENTS.every((component) => {
    const source = spec[component];
    const applied = status?.components?.[component]?.applied;
    if (source === undefined) return true;
    return applied?.branch === source.branch && applied.commit === wantedCommit(environment, component);
  });
}

/** The hash of the values that run, from `<chart revision>+<hash>`. */
export function runningHash(status: EnvironmentStatus | undefined): string | undefined {
  return status?.components?.backend?.revision?.split("+")[1];
}

/** Whether what the spec asks for runs and its URLs answered; of a suspended environment, that all of it sleeps. */
export function isServed(environment: Judged): boolean {
  const { spec, status } = environment;
  const isRunning = status?.desiredHash !== undefined && runningHash(status) === status.desiredHash;
  const isWanted = isAsAsked(environment) && status?.renderedSpecHash === askedHash(spec);
  return isRunning && isWanted && (spec.suspended === true || status?.servingHash === status?.desiredHash);
}

/** The pipelines that build what the environment wants now; those of other commits say nothing about it. */
export function wantedPipelines(environment: Judged): (Pipeline & { readonly component: Component })[] {
  return COMPONENTS.flatMap((component) => {
    const pipeline = environment.spec[component]?.pipeline;
    const isWanted = pipeline !== undefined && pipeline.commit === wantedCommit(environment, component);
    return isWanted ? [{ ...pipeline, component }] : [];
  });
}
