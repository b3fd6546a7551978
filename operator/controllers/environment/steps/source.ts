import {
  componentsOf,
  type EphemeralEnvironment,
  type SourceStatus,
} from "../../../../crds/environment/ephemeral-environment.ts";
import { reconcileToken } from "../../../../crds/group.ts";
import type { Component } from "../../../../crds/names.ts";
import type { Repository } from "../../../../crds/repository/repository.ts";
import type { Clock } from "../../../kit/time/clock.ts";
import type { Deployer } from "../../../ports/deployer.ts";
import type { RepositoryHost } from "../../../ports/repository-host.ts";
import { type CredentialSource, cloneCredential } from "../../../repository-access/host-credentials.ts";
import { waitingForCredential } from "../error-results.ts";
import { componentRepositories, type RepositorySources, repositoryProblem } from "../repositories.ts";
import type { Step } from "../step.ts";
import { done, failed, type Unfinished, withFindings } from "../step-result.ts";
import { imageResult } from "./image.ts";
import { pipelineResult } from "./pipelines.ts";

interface SourceDependencies extends RepositorySources, CredentialSource {
  readonly clock: Clock;
  readonly deployer: Deployer;
  readonly repositoryHost: RepositoryHost;
}

interface ResolvedComponent {
  readonly component: Component;
  readonly branch: string;
  readonly commit: string;
  /** Image of the commit, or the reason for its absence. */
  readonly image: string | Unfinished;
  /** Head of the branch, where the spec names no commit. */
  readonly resolved?: NonNullable<SourceStatus["resolved"]>;
}

/**
 * Resolves the commit of every component: the spec's, else the branch's head, read once. The application gets all
 * commits after the last pipeline; the workload stays until then.
 */
export function source(dependencies: SourceDependencies): Step {
  return {
    condition: "SourceResolved",
    writes: ["sources"],
    after: [],

    continueWithPrevious(environment) {
      const isMissing = repositoryProblem(environment, dependencies) !== undefined;
      const wasApplied = (component: Component) => environment.status?.sources?.[component]?.applied !== undefined;
      return !isMissing && componentsOf(environment).every(wasApplied);
    },

    async run(environment) {
      const problem = repositoryProblem(environment, dependencies);
      if (problem !== undefined) return problem;

      const repositories = componentRepositories(environment, dependencies.repositories);
      const resolving = componentsOf(environment).map((component) =>
        resolve(environment, component, repositories[component] as Repository, dependencies),
      );
      const outcomes = await Promise.all(resolving);
      const unresolved = outcomes.find((outcome) => "state" in outcome);
      if (unresolved !== undefined) return unresolved;
      return sourcesResult(environment, outcomes as ResolvedComponent[], dependencies);
    },
  };
}

/** Gives the application the commits unless one is still to be built. */
function sourcesResult(
  environment: EphemeralEnvironment,
  components: readonly ResolvedComponent[],
  { clock, repositories }: SourceDependencies,
) {
  const former = environment.status?.sources;
  const entries = components.map(({ component, resolved }): [Component, SourceStatus] => {
    const applied = former?.[component]?.applied;
    return [component, { ...(applied && { applied }), ...(resolved && { resolved }) }];
  });
  const sources = Object.fromEntries(entries);
  const resolved = { ...environment, status: { ...environment.status, sources } };
  const unbuilt = pipelineResult(resolved, componentRepositories(environment, repositories), clock.now());
  if (unbuilt !== undefined) return withFindings(unbuilt, { sources });
  // A placeholder of the tag may wait for a report after the build.
  const unnamed = components.map(({ image }) => image).find((image) => typeof image !== "string");
  if (unnamed !== undefined) return withFindings(unnamed, { sources });
  const applied = components.map(({ component, branch, commit, image, resolved }) => {
    const status = { applied: { branch, commit, image }, ...(resolved && { resolved }) };
    return [component, status];
  });
  return done("Resolved", { findings: { sources: Object.fromEntries(applied) } });
}

async function resolve(
  environment: EphemeralEnvironment,
  component: Component,
  repository: Repository,
  context: SourceDependencies,
): Promise<ResolvedComponent | Unfinished> {
  const { branch = "", commit: requested } = environment.spec[component] ?? {};
  const resolved = requested ? undefined : await head(environment, component, repository, context);
  if (resolved !== undefined && "state" in resolved) return resolved;
  const commit = requested || resolved?.commit;
  if (commit === undefined) return branchNotFound(component, branch, repository);
  const image = imageResult(repository, environment, { component, branch, commit });
  if (typeof image !== "string" && image.state === "failed") return image;
  return { component, branch, commit, image, ...(resolved && { resolved }) };
}

/** Head of the branch: read once, and if followed at each requested reconcile; a known head outlives the branch. */
async function head(
  environment: EphemeralEnvironment,
  component: Component,
  repository: Repository,
  context: SourceDependencies,
): Promise<ResolvedComponent["resolved"] | Unfinished> {
  const { branch = "" } = environment.spec[component] ?? {};
  const token = followRequest(environment, component);
  const former = knownHead(environment, component, context.deployer);
  const isAnswered =
    token === undefined || token === environment.status?.sources?.[component]?.resolved?.reconcileToken;
  const resolved = (commit: string) =>
    token === undefined ? { branch, commit } : { branch, commit, reconcileToken: token };
  if (former !== undefined && isAnswered) return resolved(former);
  try {
    const credential = await cloneCredential(repository, context);
    const commit = (await context.repositoryHost.head(repository.spec.cloneUrl, branch, credential)) ?? former;
    return commit === undefined ? undefined : resolved(commit);
  } catch (error) {
    // A refused credential does not fail an environment with a known commit.
    const refusal = waitingForCredential(error);
    if (former === undefined || refusal === undefined) throw error;
    return refusal;
  }
}

/** Request for which a followed branch's head is read; stored with the head, so none is lost. */
function followRequest(environment: EphemeralEnvironment, component: Component): string | undefined {
  return environment.spec[component]?.follow ? reconcileToken(environment) : undefined;
}

/** Head in the status, else the application's commit of this branch that a crash kept out of the status. */
function knownHead({ metadata, spec, status }: EphemeralEnvironment, component: Component, deployer: Deployer) {
  const { resolved, applied } = status?.sources?.[component] ?? {};
  const branch = spec[component]?.branch;
  if (resolved !== undefined && resolved.branch === branch) return resolved.commit;
  const deployed = deployer.deployedSources(metadata)[component];
  const isOther = deployed?.branch !== applied?.branch || deployed?.commit !== applied?.commit;
  return isOther && deployed?.branch === branch ? deployed?.commit : undefined;
}

/** No watch reports a push. */
const BRANCH_RECHECK_MS = 30_000;

function branchNotFound(component: Component, branch: string, { metadata }: Repository): Unfinished {
  const message = `repository '${metadata.name}' has no branch '${branch}': push it, or correct spec.${component}.branch`;
  return failed("BranchNotFound", message, { requeueAfterMs: BRANCH_RECHECK_MS });
}
