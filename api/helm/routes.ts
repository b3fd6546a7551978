import { stringify } from "yaml";
import { ConfigInvalid } from "../../crds/errors.ts";
import { secretNames } from "../../crds/repository/repository.ts";
import { chosenConfigSet } from "../config-sets/usable-config-set.ts";
import { withoutSecrets } from "../config-sets/views.ts";
import { usableRepository } from "../repositories/usable-repository.ts";
import { toChart } from "../repositories/views.ts";
import { route } from "../route.ts";
import { ChartTemplateReport, TemplateQuery } from "./schemas.ts";

/** Helm reads YAML 1.1, to which `on` and `1_000` are no text, and some of 1.2: text that is quoted is text to all. */
const HELM_YAML = { version: "1.1", defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "PLAIN" } as const;

/** What environments of a Repository and a config set are rendered with. */
const getConfigTemplate = route({
  method: "get",
  path: "/api/helm/config-template",
  operationId: "getConfigTemplate",
  summary: "Get the chart's values template",
  description:
    "The chart, the values and the variables that an environment of this repository and this config set is made with: what config_overrides starts from. For a frontend repository it is the frontend's part alone: its environments have a backend beside it. With `Accept: application/yaml`, the values alone.",
  tag: "helm",
  access: { permission: "configs:read" },
  rate: "caller",
  envelope: "always",
  query: TemplateQuery,
  reply: ChartTemplateReport,
  representation: { type: "application/yaml", text: ({ values_yaml }: ChartTemplateReport) => values_yaml },
  refusals: ["ENV_REPO_NOT_FOUND", "ENV_CONFIG_INVALID"],
})(({ query, caller }, platform) => {
  const { configSet, violations } = chosenConfigSet(query, caller, platform);
  if (violations.length > 0) throw new ConfigInvalid(violations);
  const { chart, values, variables } = platform.chartTemplates.templateOf({
    repository: query.repo ? usableRepository(query.repo, { field: "repo", caller }, platform) : undefined,
    configSet: configSet && withoutSecrets(configSet.spec, secretNames(platform.repositories.list())),
    generatesSecrets: query.auto_generate_secrets ?? true,
  });
  return {
    chart: toChart(chart),
    values: { ...values },
    values_yaml: stringify(values, HELM_YAML),
    variables: variables.map((variable) => ({ ...variable, default: variable.default ?? null })),
  };
});

export const helmRoutes = [getConfigTemplate] as const;
