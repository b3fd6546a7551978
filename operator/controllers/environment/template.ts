import type { Settings } from "../../../config/settings.ts";
import { componentsOf, type EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { ConfigInvalid } from "../../../crds/errors.ts";
import { API_VERSION } from "../../../crds/group.ts";
import type { Component } from "../../../crds/names.ts";
import { present } from "../../../crds/present.ts";
import {
  branchOf,
  chartOf,
  chartSourceOf,
  generatedSecrets,
  type Repository,
  tagTemplateOf,
} from "../../../crds/repository/repository.ts";
import { mappingOf, valuesProblem } from "../../../crds/repository/values-mapping.ts";
import type { ChartTemplates, TemplateChoice, TemplateVariable } from "../../ports/api/chart-templates.ts";
import type { BackingService } from "./backing-services/backing-service.ts";
import { pullPlan, pullStatus } from "./desired/pull-secret.ts";
import { environmentValues } from "./desired/values.ts";
import { variablesOf } from "./desired/variables.ts";
import { desiredServices, type PlanInput } from "./plan-input.ts";
import type { ComponentRepositories } from "./repositories.ts";

const NAME = "my-environment";
const PLACEHOLDER_UID = "00000000-0000-4000-8000-000000000000";
/** Placeholder that stands for itself. */
const ANY_COMMIT = "{commit}";

/** ChartTemplates port on the rendering functions. */
export function chartTemplates(settings: Settings, services: readonly BackingService[]): ChartTemplates {
  return {
    templateOf(choice) {
      const { repository, configSet } = choice;
      const repositories: ComponentRepositories =
        repository === undefined
          ? { backend: placeholder("backend"), frontend: placeholder("frontend") }
          : { [repository.spec.type]: repository };
      const input: PlanInput = { environment: environmentOf(repositories, choice), repositories, configSet, services };
      const { values: ofChart } = chartOf(repositories, settings);
      requireReadable(input, settings);
      return {
        chart: chartSourceOf(repositories, settings),
        values: environmentValues(input, settings),
        mapping: present({ chart: ofChart, configSet: configSet?.values }),
        variables: templateVariables(input, choice),
      };
    },
  };
}

function requireReadable(input: PlanInput, settings: Settings): void {
  const mapping = mappingOf(input, settings);
  if (mapping === undefined || !("problem" in mapping)) return;
  const isOfConfigSet =
    valuesProblem(input.configSet) !== undefined && valuesProblem(chartOf(input.repositories, settings)) === undefined;
  throw new ConfigInvalid([{ field: isOfConfigSet ? "config_set" : "repo", message: mapping.problem }]);
}

function placeholder(type: Component): Repository {
  const metadata = { name: type, namespace: "", uid: PLACEHOLDER_UID, resourceVersion: "", generation: 1 };
  return {
    apiVersion: API_VERSION,
    kind: "Repository",
    metadata: { ...metadata, creationTimestamp: "" },
    spec: { type, cloneUrl: "", image: { repository: `registry.example.com/${type}` } },
  };
}

function environmentOf(
  repositories: ComponentRepositories,
  { generatesSecrets }: TemplateChoice,
): EphemeralEnvironment {
  const each = <T>(of: (repository: Repository) => T) =>
    Object.fromEntries(Object.entries(repositories).map(([component, repository]) => [component, of(repository)]));
  const components = each((repository) => ({ repository: repository.metadata.name, branch: branchOf(repository) }));
  const sources = each((repository) => ({ applied: appliedOf(repository) }));
  return {
    apiVersion: API_VERSION,
    kind: "EphemeralEnvironment",
    metadata: { name: NAME, uid: PLACEHOLDER_UID, resourceVersion: "", generation: 1, creationTimestamp: "" },
    // A frontend's template lacks the backend that every real environment has.
    spec: {
      ...components,
      secrets: { autoGenerate: generatesSecrets, useSharedApiKeys: true },
    } as EphemeralEnvironment["spec"],
    status: { sources, pullSecret: pullStatus(pullPlan(repositories)) },
  };
}

function appliedOf(repository: Repository) {
  const image = `${repository.spec.image.repository}:${tagTemplateOf(repository)}`;
  return { branch: branchOf(repository), commit: ANY_COMMIT, image };
}

/** All components see all secrets, which share one Secret. */
function templateVariables(input: PlanInput, { generatesSecrets }: TemplateChoice): TemplateVariable[] {
  const { plain, references } = variablesOf(input);
  const services = desiredServices(input);
  const secrets = [
    ...services.flatMap((one) => one.secrets),
    ...Object.values(input.repositories).flatMap(generatedSecrets),
  ];
  const needed = new Set(secrets.map(({ name }) => name));
  const derived = services
    .flatMap((service) => service.derived.map(({ name }) => name))
    .filter((name) => !references.has(name) && !needed.has(name));
  const names = [...new Set([...needed, ...derived, ...references.keys()])].sort();
  const sourceOf = (name: string): TemplateVariable["source"] =>
    references.get(name)?.origin ?? (generatesSecrets || derived.includes(name) ? "auto" : "override");
  return componentsOf(input.environment).flatMap((component) => [
    ...(plain[component] ?? []).map(({ name, value }): TemplateVariable => {
      return { name, component, required: false, secret: false, source: "config_set", default: value };
    }),
    ...names.map((name): TemplateVariable => {
      return { name, component, required: needed.has(name), secret: true, source: sourceOf(name), default: undefined };
    }),
  ]);
}
