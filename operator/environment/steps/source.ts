import {
  type ComponentStatus,
  type EphemeralEnvironment,
  reconcileToken,
} from "../../../crds/environment/ephemeral-environment.ts";
import { BUILDING } from "../../../crds/environment/phase.ts";
import { buildOf, pipelineEnd } from "../../../crds/environment/pipelines.ts";
import type { Component } from "../../../crds/names.ts";
import { imageOf, type Repository } from "../../../crds/repository/repository.ts";
import type { Sources } from "../../ports/deployer.ts";
import { cloneCredential } from "../../repository/host-credentials.ts";
import { componentsOf } from "../desired/values.ts";
import { delayOf } from "../error-results.ts";
import { wantedCommit, wantedPipelines } from "../progress.ts";
import { repositoriesOf, repositoryProblem } from "../repositories.ts";
import { done, failed, type Step, type StepContext, type StepResult, type Unfinished, waiting } from "../step.ts";

/** What a component came to: what its application may be given, and the head that it follows from, if that was asked. */
type Settled = Required<Pick<ComponentStatus, "applied">> & Pick<ComponentStatus, "resolved">;

/**
 * Settles the commit of every component: what was asked for, else the head of the branch, asked once. The application
 * is given all of them together, when the last of their pipelines has ended; what runs stays until then.
 */
export const source: Step = {
  condition: "SourceResolved",
  after: [],

  continueWithPrevious(environment, context) {
    const isMissing = repositoryProblem(environment, context) !== undefined;
    const wasApplied = (component: Component) => environment.status?.components?.[component]?.applied !== undefined;
    return !isMissing && componentsOf(environment).every(wasApplied);
  },

  async run(environment, context) {
    const unusable = repositoryProblem(environment, context);
    if (unusable !== undefined) return unusable;

    const repositories = repositoriesOf(environment, context.repositories);
    const components = componentsOf(environment);
    const outcomes = await Promise.all(
      components.map((component) => settled(environment, component, repositories[component] as Repository, context)),
    );
    const problem = outcomes.find((outcome) => "state" in outcome);
    if (problem !== undefined) return problem as StepResult;
    return judged(environment, new Map(components.map((component, i) => [component, outcomes[i] as Settled])), context);
  },
};

/** The application may be given the new sources unless a commit of them is still to be built. */
function judged(
  environment: EphemeralEnvironment,
  sources: ReadonlyMap<Component, Settled>,
  { clock }: StepContext,
): StepResult {
  const known = [...sources].map(([component, { resolved }]): [Component, ComponentStatus] => {
    const { resolved: _, ...former } = environment.status?.components?.[component] ?? {};
    return [component, { ...former, ...(resolved === undefined ? {} : { resolved }) }];
  });
  const components = Object.fromEntries(known);
  const unbuilt = awaited({ ...environment, status: { ...environment.status, components } }, clock.now());
  if (unbuilt !== undefined) return { ...unbuilt, findings: { components } };
  const given = known.map(([component, status]) => [component, { ...status, ...sources.get(component) }]);
  return done("Resolved", { findings: { components: Object.fromEntries(given) } });
}

/** What the commits wait for, or why they will not come; `undefined` when all may be deployed. */
function awaited(environment: EphemeralEnvironment, now: Date): Unfinished | undefined {
  const pipelines = wantedPipelines(environment).map((pipeline) => ({ ...pipeline, build: buildOf(pipeline, now) }));
  const broken = pipelines.find(({ build }) => build === "failed");
  if (broken !== undefined) {
    const { id, project, commit, status, component, url } = broken;
    const outcome = status === "canceled" ? "was canceled" : "failed";
    const message = `pipeline ${id} of ${project} ${outcome} for the ${component}'s commit ${commit.slice(0, 8)}`;
    const remedy = "run it again, or ask for another commit";
    return failed("PipelineFailed", `${message}${url === undefined ? "" : ` (${url})`}: ${remedy}`);
  }
  const running = pipelines.filter(({ build }) => build === "building");
  const message = [
    ...running.map(({ id, project, component }) => `pipeline ${id} of ${project} builds the ${component}`),
    ...unreported(environment),
  ];
  if (message.length === 0) return undefined;
  const silentInMs = running.map((pipeline) => pipelineEnd(pipeline).getTime() - now.getTime());
  return waiting(BUILDING, message.join("; "), { requeueAfterMs: Math.min(REPORT_NET_MS, ...silentInMs) });
}

/** The report of a pipeline is a change of the spec, which wakes the environment. */
const REPORT_NET_MS = 7_200_000;

/**
 * Heads of followed branches that pipelines build, none of which was heard of yet: a push is known before its pipeline
 * runs. What the application has stays, whatever is built beside it.
 */
function unreported(environment: EphemeralEnvironment): readonly string[] {
  const { spec, status } = environment;
  return componentsOf(environment).flatMap((component) => {
    const { follow, commit: requested, branch, pipeline } = spec[component] ?? {};
    const applied = status?.components?.[component]?.applied;
    const commit = wantedCommit(environment, component) ?? "";
    const isBuilt = pipeline === undefined || pipeline.commit === commit;
    const isApplied = applied?.branch === branch && applied?.commit === commit;
    if (!follow || requested || isBuilt || isApplied) return [];
    return [`the ${component}'s commit ${commit.slice(0, 8)} waits for its pipeline`];
  });
}

async function settled(
  environment: EphemeralEnvironment,
  component: Component,
  repository: Repository,
  context: StepContext,
): Promise<Settled | StepResult> {
  const { branch = "", commit: requested } = environment.spec[component] ?? {};
  const resolved = requested ? undefined : await head(environment, component, repository, context);
  if (resolved !== undefined && "state" in resolved) return resolved;
  const commit = requested || resolved?.commit;
  if (commit === undefined) return branchNotFound(component, branch, repository);
  const image = imageOf(repository, { commit, branch });
  if (!isImage(image)) return imageInvalid(image, repository);
  return { applied: { branch, commit, image }, ...(resolved === undefined ? {} : { resolved }) };
}

/** The head of the branch: asked once, and again for each request if it is followed; what was known outlives the branch. */
async function head(
  environment: EphemeralEnvironment,
  component: Component,
  repository: Repository,
  context: StepContext,
): Promise<Settled["resolved"] | Unfinished> {
  const { branch = "" } = environment.spec[component] ?? {};
  const asked = requestFor(environment, component);
  const known = knownHead(environment, component, context);
  const isAnswered = asked === undefined || asked === environment.status?.components?.[component]?.resolved?.asked;
  const resolved = (commit: string) => ({ branch, commit, ...(asked === undefined ? {} : { asked }) });
  if (known !== undefined && isAnswered) return resolved(known);
  try {
    const commit = (await askedHead(repository, branch, context)) ?? known;
    return commit === undefined ? undefined : resolved(commit);
  } catch (error) {
    // What runs is not wrong because nobody may ask now what came after it.
    const delay = delayOf(error);
    if (known === undefined || delay === undefined) throw error;
    return delay;
  }
}

function knownHead(
  environment: EphemeralEnvironment,
  component: Component,
  { deployer }: StepContext,
): string | undefined {
  const former = environment.status?.components?.[component]?.resolved;
  if (former !== undefined && former.branch === environment.spec[component]?.branch) return former.commit;
  return leftByCrash(environment, component, deployer.deployedSources(environment.metadata)[component]);
}

async function askedHead(repository: Repository, branch: string, context: StepContext): Promise<string | undefined> {
  const credential = await cloneCredential(repository, context);
  return context.repositoryHost.head(repository.spec.cloneUrl, branch, credential);
}

/** The commit of this branch that the application was given and the status does not tell of: a crash came between. */
function leftByCrash(
  { spec, status }: EphemeralEnvironment,
  component: Component,
  carried: Sources[Component],
): string | undefined {
  const applied = status?.components?.[component]?.applied;
  const isNews = carried?.branch !== applied?.branch || carried?.commit !== applied?.commit;
  return isNews && carried?.branch === spec[component]?.branch ? carried?.commit : undefined;
}

/** The request for a pass after which a followed branch is to be asked; kept with the answer, so that none is lost. */
function requestFor(environment: EphemeralEnvironment, component: Component): string | undefined {
  return environment.spec[component]?.follow ? reconcileToken(environment) : undefined;
}

/** Nothing tells when somebody pushes the branch. */
const BRANCH_RECHECK_MS = 30_000;

function branchNotFound(component: Component, branch: string, { metadata }: Repository): StepResult {
  const message = `repository '${metadata.name}' has no branch '${branch}': push it, or correct spec.${component}.branch`;
  return { ...failed("BranchNotFound", message), requeueAfterMs: BRANCH_RECHECK_MS };
}

/** https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests: at most 128 characters of a tag. */
function isImage(image: string): boolean {
  return /:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(image);
}

function imageInvalid(image: string, { metadata }: Repository): StepResult {
  const tag = image.slice(image.lastIndexOf(":") + 1, image.lastIndexOf(":") + 60);
  return failed(
    "ImageInvalid",
    `'${tag}…' is no image tag: shorten or rename the branch, or correct image.tagTemplate of Repository '${metadata.name}'`,
  );
}
