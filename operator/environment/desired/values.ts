import type { Settings } from "../../../config/settings.ts";
import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { COMPONENTS, type Component, componentHost, componentUrl } from "../../../crds/names.ts";
import type { ChartSource, Repository } from "../../../crds/repository/repository.ts";
import { grantedValues } from "../overrides.ts";
import { shortHash } from "../short-hash.ts";
import { asleep } from "./asleep.ts";
import { databaseValues, wantsDatabase } from "./database.ts";
import { type JsonObject, merge, nested } from "./merge.ts";
import { PULL_SECRET, pullPlan } from "./pull-secret.ts";
import { wantedPodSecret } from "./secret.ts";
import { variablesOf } from "./variables.ts";

type ComponentRepositories = { readonly [component in Component]?: Repository };

/** The components that the environment has. */
export function componentsOf({ spec }: EphemeralEnvironment): readonly Component[] {
  return COMPONENTS.filter((component) => spec[component] !== undefined);
}

/** The URLs that the environment answers at once it is ready, by component. */
export function urlsOf(environment: EphemeralEnvironment, settings: Settings): { [component in Component]?: string } {
  return Object.fromEntries(
    componentsOf(environment).map((component) => [component, urlOf(environment, component, settings)]),
  );
}

/**
 * The values that the environment's chart is rendered with; the same whenever they are computed. The environment's
 * overrides win over its config set, which wins over the chart; what the platform itself sets wins over all of them.
 *
 * @throws Error when a component's commit is not settled or its repository is missing: steps settle both before
 */
export function environmentValues(
  environment: EphemeralEnvironment,
  repositories: ComponentRepositories,
  settings: Settings,
  configSet?: ConfigSetSpec,
): Record<string, unknown> {
  const { name, uid } = environment.metadata;
  const { plain } = variablesOf(environment, repositories, configSet);
  const components = componentsOf(environment).map((component) => {
    const repository = repositories[component];
    if (repository === undefined) throw new Error(`the repository of ${component} is not known`);
    const env = plain[component] ?? [];
    return [
      component,
      {
        ...chosenValues(environment, component, repositories, configSet),
        ...(env.length === 0 ? {} : { env }),
        ...ownValues(environment, component, repository, settings),
      },
    ];
  });
  const values = {
    environment: { name, uid },
    ...Object.fromEntries(components),
    ...(wantsDatabase(environment.spec, configSet) ? { database: databaseValues(configSet, settings) } : {}),
    secret: { name: wantedPodSecret(environment) },
    ...(pullsWithSecret(environment, repositories) ? { imagePullSecrets: [{ name: PULL_SECRET }] } : {}),
  };
  return environment.spec.suspended ? asleep(values) : values;
}

/** The Secret outlives the wish for it: pods of before may still need it. */
function pullsWithSecret({ status }: EphemeralEnvironment, repositories: ComponentRepositories): boolean {
  return (status?.pullSecret ?? []).length > 0 && pullPlan(repositories).length > 0;
}

/** Tells one wanted state from another, in 12 hex digits. */
export function wantedHash(chart: ChartSource, values: Record<string, unknown>): string {
  return shortHash([chart, values]);
}

/** What people choose for a component, and may, variables aside. */
function chosenValues(
  environment: EphemeralEnvironment,
  component: Component,
  repositories: ComponentRepositories,
  configSet: ConfigSetSpec | undefined,
): JsonObject {
  const { overrides } = environment.spec;
  const paths = [...grantedValues(environment, repositories)].sort((one, other) => (one.path < other.path ? -1 : 1));
  const { [component]: values } = merge(
    { [component]: (configSet?.helmValues?.[component] ?? {}) as JsonObject },
    { [component]: (overrides?.[component] ?? {}) as JsonObject },
    ...paths.map(({ path, value }) => nested(path.split("."), value)),
  );
  const { env: _, ...others } = values as JsonObject;
  return others;
}

/** What the platform alone decides. */
function ownValues(
  environment: EphemeralEnvironment,
  component: Component,
  repository: Repository,
  settings: Settings,
) {
  const image = environment.status?.components?.[component]?.applied?.image;
  if (image === undefined) throw new Error(`the commit of ${component} is not settled`);
  return {
    image,
    port: repository.spec.port ?? 8080,
    healthPath: repository.spec.healthPath ?? "/",
    host: componentHost(environment.metadata.name, component, settings.baseDomain),
    url: urlOf(environment, component, settings),
  };
}

function urlOf(environment: EphemeralEnvironment, component: Component, settings: Settings): string {
  const host = componentHost(environment.metadata.name, component, settings.baseDomain);
  return componentUrl(host, settings.publicPort);
}
