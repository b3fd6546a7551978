import type { EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import { UPDATING } from "../../../crds/phase.ts";
import { NameTaken } from "../../ports/cluster.ts";
import { DeployerUnavailable, type ObservedApplication, type WantedApplication } from "../../ports/deployer.ts";
import { componentsOf, environmentValues, wantedHash } from "../desired/values.ts";
import { chartOf, repositoriesOf } from "../repositories.ts";
import { done, failed, NAME_TAKEN_RECHECK_MS, type Step, type StepContext, type StepResult, waiting } from "../step.ts";

/** The deployer's watch wakes the environment; this is only the net below it. */
const RECHECK_MS = 30_000;

/** Has the deployer bring the chart with the environment's values into the namespace, and waits until it runs. */
export const application: Step = {
  condition: "ApplicationSynced",
  after: ["IsolationReady", "SecretsReady", "SourceResolved"],

  async run(environment, context) {
    const wanted = wantedApplication(environment, context);
    try {
      await context.deployer.ensure(wanted);
    } catch (error) {
      if (error instanceof NameTaken)
        return { ...failed("NameTaken", error.message), recheckAfterMs: NAME_TAKEN_RECHECK_MS };
      if (!(error instanceof DeployerUnavailable)) throw error;
      return waiting("DeployerUnavailable", error.message, { recheckAfterMs: 5_000 });
    }
    return judged(environment, wanted, context.deployer.observe(wanted));
  },
};

/** The application that the environment should have now. */
export function wantedApplication(
  environment: EphemeralEnvironment,
  { repositories, settings }: StepContext,
): WantedApplication {
  const known = repositoriesOf(environment, repositories);
  const { name, uid } = environment.metadata;
  return {
    environment: { name, uid },
    chart: chartOf(known, settings),
    values: environmentValues(environment, known, settings),
    commits: commitsOf(environment),
  };
}

function commitsOf(environment: EphemeralEnvironment): Record<string, string> {
  const settled = componentsOf(environment).map((component) => [
    component,
    environment.status?.components?.[component]?.commit ?? "",
  ]);
  return Object.fromEntries(settled);
}

function judged(
  environment: EphemeralEnvironment,
  wanted: WantedApplication,
  observed: ObservedApplication | undefined,
): StepResult {
  const deployerApp = namespaceName(environment.metadata.name);
  const hash = wantedHash(wanted.chart, wanted.values);
  if (observed?.state === "broken")
    return { ...failed("DeploymentFailed", observed.message), findings: { deployerApp } };
  if (observed?.state === "healthy") {
    return done("Synced", {
      findings: { deployerApp, components: running(environment, `${observed.revision.slice(0, 12)}+${hash}`) },
    });
  }
  const former = environment.status?.components?.backend?.revision;
  const updating = former !== undefined && !former.endsWith(`+${hash}`);
  const reason = observed?.state === "progressing" ? "Progressing" : "Syncing";
  const message = observed?.message ?? "waiting for the deployer to pick the application up";
  return waiting(updating ? UPDATING : reason, message, { recheckAfterMs: RECHECK_MS, findings: { deployerApp } });
}

function running(environment: EphemeralEnvironment, revision: string) {
  const components = environment.status?.components ?? {};
  const now = componentsOf(environment).map((component) => [component, { ...components[component], revision }]);
  return Object.fromEntries(now);
}
