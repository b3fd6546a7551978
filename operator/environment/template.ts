import type { Settings } from "../../config/settings.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { API_VERSION } from "../../crds/group.ts";
import type { Component } from "../../crds/names.ts";
import { branchOf, neededSecrets, type Repository } from "../../crds/repository/repository.ts";
import type { ChartTemplates, TemplateChoice, TemplateVariable } from "../ports/facade/chart-templates.ts";
import { DATABASE_URL, wantsDatabase } from "./desired/database.ts";
import { pullPlan, pullStatus } from "./desired/pull-secret.ts";
import { componentsOf, environmentValues } from "./desired/values.ts";
import { variablesOf } from "./desired/variables.ts";
import { chartOf } from "./repositories.ts";

const NAME = "my-environment";
const NO_ONES_UID = "00000000-0000-4000-8000-000000000000";
/** The signs of a tag's template stand for themselves. */
const ANY_COMMIT = "{commit}";

type ComponentRepositories = { readonly [component in Component]?: Repository };

/** The ChartTemplates port on the functions that environments are rendered with. */
export function chartTemplates(settings: Settings): ChartTemplates {
  return {
    templateOf(choice) {
      const { repository, configSet } = choice;
      const repositories: ComponentRepositories =
        repository === undefined
          ? { backend: placeholder("backend"), frontend: placeholder("frontend") }
          : { [repository.spec.type]: repository };
      const environment = environmentOf(repositories, choice);
      return {
        chart: chartOf(repositories, settings),
        values: environmentValues(environment, repositories, settings, configSet),
        variables: templateVariables(environment, repositories, choice),
      };
    },
  };
}

function placeholder(type: Component): Repository {
  const metadata = { name: type, namespace: "", uid: NO_ONES_UID, resourceVersion: "", generation: 1 };
  return {
    apiVersion: API_VERSION,
    kind: "Repository",
    metadata: { ...metadata, creationTimestamp: "" },
    spec: { type, cloneUrl: "", image: { repository: `registry.example.com/${type}` } },
  };
}

/** An environment that is made of these as little is said as can be, its commits settled. */
function environmentOf(
  repositories: ComponentRepositories,
  { generatesSecrets }: TemplateChoice,
): EphemeralEnvironment {
  const each = <T>(of: (repository: Repository) => T) =>
    Object.fromEntries(Object.entries(repositories).map(([component, repository]) => [component, of(repository)]));
  const sources = each((repository) => ({ repository: repository.metadata.name, branch: branchOf(repository) }));
  const components = each((repository) => ({ applied: appliedOf(repository) }));
  return {
    apiVersion: API_VERSION,
    kind: "EphemeralEnvironment",
    metadata: { name: NAME, uid: NO_ONES_UID, resourceVersion: "", generation: 1, creationTimestamp: "" },
    // A frontend's own template has no backend, as no environment would.
    spec: {
      ...sources,
      secrets: { autoGenerate: generatesSecrets, useSharedApiKeys: true },
    } as EphemeralEnvironment["spec"],
    status: { components, pullSecret: pullStatus(pullPlan(repositories)) },
  };
}

function appliedOf(repository: Repository) {
  const { tagTemplate = ANY_COMMIT } = repository.spec.image;
  const branch = branchOf(repository);
  return { branch, commit: ANY_COMMIT, image: `${repository.spec.image.repository}:${tagTemplate}` };
}

/** Secrets are in one Secret, which every component sees. */
function templateVariables(
  environment: EphemeralEnvironment,
  repositories: ComponentRepositories,
  { configSet, generatesSecrets }: TemplateChoice,
): TemplateVariable[] {
  const { plain, references } = variablesOf(environment, repositories, configSet);
  const hasDatabase = wantsDatabase(environment.spec, configSet);
  const needed = new Set(neededSecrets(Object.values(repositories), hasDatabase).map(({ name }) => name));
  const derived = hasDatabase && !references.has(DATABASE_URL) && !needed.has(DATABASE_URL) ? [DATABASE_URL] : [];
  const names = [...new Set([...needed, ...derived, ...references.keys()])].sort();
  const otherwise = (name: string): TemplateVariable["source"] =>
    generatesSecrets || derived.includes(name) ? "auto" : "override";
  return componentsOf(environment).flatMap((component) => [
    ...(plain[component] ?? []).map(({ name, value }) => ({
      ...{ name, component, required: false, secret: false, source: "config_set" as const, default: value },
    })),
    ...names.map((name) => ({
      ...{ name, component, required: needed.has(name), secret: true, default: undefined },
      source: references.get(name)?.origin ?? otherwise(name),
    })),
  ]);
}
