import { stringify } from "yaml";
import { ConfigInvalid } from "../../crds/errors.ts";
import { secretNames } from "../../crds/repository/repository.ts";
import type { ChartTemplate } from "../../operator/ports/api/chart-templates.ts";
import type { Caller } from "../auth/access.ts";
import { usableConfigSet } from "../config-sets/usable-config-set.ts";
import { withoutSecrets } from "../config-sets/views.ts";
import { usableRepository } from "../repositories/usable-repository.ts";
import { toChart } from "../repositories/views.ts";
import { feature, route } from "../route.ts";
import type { Services } from "../services.ts";
import { ChartTemplateReport, MappedTemplateReport, TemplateQuery } from "./schemas.ts";

/** Helm mixes YAML 1.1, where `on` and `1_000` are no text, and 1.2: both take quoted text for text. */
const HELM_YAML = { version: "1.1", defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "PLAIN" } as const;

const readTemplate = {
  endpoint: "GET /api/helm/config-template",
  summary: "Get the chart's values template",
  description:
    "The chart, the values and the variables that an environment of this repository and this config set is created with: the starting point of config_overrides. For a frontend repository it is the frontend's part alone: its environments have a backend beside it. With `Accept: application/yaml`, the values alone.",
  access: { permission: "configs:read" },
  query: TemplateQuery,
  errors: ["ENV_REPO_NOT_FOUND", "ENV_CONFIG_INVALID"],
} as const;

const asYaml = { type: "application/yaml", text: ({ values_yaml }: { values_yaml: string }) => values_yaml } as const;

const getConfigTemplate = route({
  ...readTemplate,
  only: "v1",
  reply: ChartTemplateReport,
  representation: asYaml,
})(({ query, caller }, services) => toTemplate(templateOf(query, caller, services)));

const getMappedTemplate = route({
  ...readTemplate,
  only: "v2",
  operationId: "getConfigTemplate",
  reply: MappedTemplateReport,
  representation: asYaml,
})(({ query, caller }, services) => {
  const template = templateOf(query, caller, services);
  const { chart = null, configSet = null } = template.mapping;
  return { ...toTemplate(template), mapping: { chart, config_set: configSet } };
});

function templateOf(query: TemplateQuery, caller: Caller, services: Services): ChartTemplate {
  const { configSet, violations } = usableConfigSet(query.config_set, caller, services);
  if (violations.length > 0) throw new ConfigInvalid(violations);
  return services.chartTemplates.templateOf({
    repository: query.repo ? usableRepository(query.repo, { field: "repo", caller }, services.repositories) : undefined,
    configSet: configSet && withoutSecrets(configSet.spec, secretNames(services.repositories.list())),
    generatesSecrets: query.auto_generate_secrets ?? true,
  });
}

function toTemplate({ chart, values, variables }: ChartTemplate): ChartTemplateReport {
  return {
    chart: toChart(chart),
    values: { ...values },
    values_yaml: stringify(values, HELM_YAML),
    variables: variables.map((variable) => ({ ...variable, default: variable.default ?? null })),
  };
}

export const helmRoutes = feature("helm", { getConfigTemplate, getMappedTemplate }, { envelope: "always" });
