import { findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import { elapsedMs } from "../../kit/time/clock.ts";
import type { ObservedApplication, WantedApplication } from "../../ports/deployer.ts";
import { POD_PROBLEM_REASONS } from "../../ports/pods.ts";
import { configurationOf } from "../configuration.ts";
import { componentsOf, environmentValues, wantedHash } from "../desired/values.ts";
import { diagnoseApplication } from "../diagnosis.ts";
import { forbiddenOverride } from "../overrides.ts";
import { askedHash, isAsAsked } from "../progress.ts";
import { chartOf, repositoriesOf } from "../repositories.ts";
import {
  done,
  type Findings,
  type Step,
  type StepContext,
  type StepResult,
  type Unfinished,
  waiting,
} from "../step.ts";
import { retireSecrets } from "./secrets.ts";

/**
 * Has the deployer bring the chart with the environment's values into the namespace, and waits until it runs. The deployer
 * is confined first: to that namespace, to that chart, and to what kinds it may make.
 */
export const application: Step = {
  condition: "ApplicationSynced",
  after: ["ConfigurationResolved", "IsolationReady", "SecretsReady", "SourceResolved"],

  async run(environment, context) {
    const wanted = wantedApplication(environment, context);
    await context.deployer.ensureProject(wanted.environment, wanted.chart);
    await context.deployer.ensure(wanted);
    const hash = wantedHash(wanted.chart, wanted.values);
    const result = await judged(environment, wanted, hash, context);
    const deployerApp = namespaceName(environment.metadata.name);
    // What was wanted answered and runs alone: no pod names a former Secret any more.
    const isAlone = result.state === "done" && environment.status?.servingHash === hash;
    const retired = isAlone ? await retireSecrets(environment, context) : {};
    const findings = { ...result.findings, ...retired, deployerApp, desiredHash: hash };
    return { ...result, findings: { ...findings, ...rendered(environment, context) } };
  },
};

/** What was rendered counts as what the spec asks for only where all of that may be had. */
function rendered(environment: EphemeralEnvironment, context: StepContext): Findings {
  const repositories = repositoriesOf(environment, context.repositories);
  // While a wish for secrets can't be granted, pods have those of before.
  const hasWantedSecrets = context.earlier.get("SecretsReady")?.state === "done";
  const isGranted = hasWantedSecrets && forbiddenOverride(environment, repositories) === undefined;
  return isGranted ? { renderedSpecHash: askedHash(environment.spec) } : {};
}

/** What was rendered for an environment as a pass knows it, for the steps that come side by side. */
const rendering = new WeakMap<EphemeralEnvironment, WantedApplication>();

/** The application that the environment should have now; rendered once for all steps of a pass that know the same of it. */
export function wantedApplication(environment: EphemeralEnvironment, context: StepContext): WantedApplication {
  const wanted = rendering.get(environment) ?? render(environment, context);
  rendering.set(environment, wanted);
  return wanted;
}

function render(environment: EphemeralEnvironment, context: StepContext): WantedApplication {
  const { settings } = context;
  const known = repositoriesOf(environment, context.repositories);
  const { name, uid } = environment.metadata;
  return {
    environment: { name, uid },
    chart: chartOf(known, settings),
    values: environmentValues(environment, known, settings, configurationOf(environment, context)?.spec),
    sources: sourcesOf(environment),
  };
}

function sourcesOf(environment: EphemeralEnvironment): WantedApplication["sources"] {
  const settled = componentsOf(environment).map((component) => {
    const { branch = "", commit = "" } = environment.status?.components?.[component]?.applied ?? {};
    return [component, { branch, commit }];
  });
  return Object.fromEntries(settled);
}

/** Done once it is healthy; else what is in the way, and whether that is for good. */
async function judged(
  environment: EphemeralEnvironment,
  wanted: WantedApplication,
  hash: string,
  context: StepContext,
): Promise<StepResult> {
  const observed = context.deployer.observe(wanted);
  if (observed?.state === "healthy") {
    const unsettled = serves(environment, hash) ? unsettledResult(environment, observed, context) : undefined;
    if (unsettled !== undefined) return unsettled;
    const revision = `${observed.revision.slice(0, 12)}+${hash}`;
    return done("Synced", { findings: { components: running(environment, revision) } });
  }
  return diagnoseApplication({ environment, wanted, hash, observed, mayFail: mayFail(environment, hash) }, context);
}

/** Between two crashes a container looks healthy: its trouble is over when it has stayed so for this long. */
const SETTLED_MS = 60_000;

/** What was told of the pods of an application that is healthy again, until that is sure; else every crash would be two writes. */
function unsettledResult(
  { status }: EphemeralEnvironment,
  { since }: ObservedApplication,
  { clock }: StepContext,
): Unfinished | undefined {
  const former = findCondition(status?.conditions, "ApplicationSynced");
  const isTold = former?.status === "Unknown" && POD_PROBLEM_REASONS.some((reason) => reason === former.reason);
  if (!isTold || since === undefined) return undefined;
  const leftMs = SETTLED_MS - elapsedMs(since, clock.now());
  return leftMs > 0 ? waiting(former.reason, former.message, { requeueAfterMs: leftMs }) : undefined;
}

/**
 * Whether trouble of the application fails the environment. What serves is judged by its URLs: a deployer that can't look
 * now, or a pod that restarts, fails nothing. And what only stands until a commit is built or found is not what is wanted.
 */
export function mayFail(environment: EphemeralEnvironment, hash: string): boolean {
  return !serves(environment, hash) && isAsAsked(environment);
}

function serves({ status }: EphemeralEnvironment, hash: string): boolean {
  return status?.readyAt !== undefined && status.servingHash === hash;
}

function running(environment: EphemeralEnvironment, revision: string) {
  const now = componentsOf(environment).map((component) => {
    const status = environment.status?.components?.[component];
    const { commit, image } = status?.applied ?? {};
    return [component, { ...status, commit, image, revision }];
  });
  return Object.fromEntries(now);
}
