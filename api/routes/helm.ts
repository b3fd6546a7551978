import { stringify } from "yaml";
import { ConfigInvalid, RepositoryNotFound } from "../../crds/errors.ts";
import type { Repository } from "../../crds/repository.ts";
import { mayUse } from "../auth/access.ts";
import type { Caller } from "../auth/callers.ts";
import { chosenConfigSet } from "../intake/config-set.ts";
import { type Platform, route } from "../route.ts";
import { ChartTemplateReport, TemplateQuery } from "../schemas/chart-template.ts";
import { toChart } from "../views/repositories.ts";

/** What environments of a Repository and a config set are rendered with. */
const getConfigTemplate = route({
  method: "get",
  path: "/api/helm/config-template",
  operationId: "getConfigTemplate",
  summary: "Get the chart's values template",
  description:
    "The chart, the values and the variables that an environment of this repository and this config set is made with: what config_overrides starts from. With `Accept: application/yaml`, the values alone.",
  tag: "helm",
  access: { permission: "configs:read" },
  rate: "caller",
  envelope: "always",
  query: TemplateQuery,
  reply: ChartTemplateReport,
  alternative: { type: "application/yaml", text: ({ values_yaml }: ChartTemplateReport) => values_yaml },
  refusals: ["ENV_REPO_NOT_FOUND", "ENV_CONFIG_INVALID"],
})(({ query, caller }, platform) => {
  const { configSet, violations } = chosenConfigSet(query, caller, platform);
  if (violations.length > 0) throw new ConfigInvalid(violations);
  const { chart, values, variables } = platform.chartTemplates.templateOf({
    repository: query.repo ? usableRepository(query.repo, caller, platform) : undefined,
    configSet: configSet?.spec,
    generatesSecrets: query.auto_generate_secrets ?? true,
  });
  return {
    chart: toChart(chart),
    values: { ...values },
    values_yaml: stringify(values),
    variables: variables.map((variable) => ({ ...variable, default: variable.default ?? null })),
  };
});

/** One that the caller may not make environments of is answered exactly like one that does not exist. */
function usableRepository(id: string, caller: Caller, { repositories }: Platform): Repository {
  const found = repositories.find(id);
  if (found === undefined || !mayUse(caller, found)) throw new RepositoryNotFound(id, "repo");
  return found;
}

export const helmRoutes = [getConfigTemplate] as const;
