import { type Static, Type } from "typebox";
import { COMPONENTS } from "../../crds/names.ts";
import { closed, literals, map } from "../../crds/schema.ts";
import { ChartReport } from "../repositories/schemas.ts";
import { orNull, titled } from "../schemas/fields.ts";

export const TemplateQuery = closed({
  repo: Type.Optional(
    Type.String({
      maxLength: 253,
      description: "Id of a registered repository; the default chart with placeholders when left out.",
      examples: ["shop-api"],
    }),
  ),
  config_set: Type.Optional(
    Type.String({
      maxLength: 253,
      description: "Id of a config set; the default one, if there is one, when left out.",
      examples: ["web"],
    }),
  ),
  auto_generate_secrets: Type.Optional(
    Type.Boolean({ default: true, description: "False: for an environment whose secrets are all given." }),
  ),
});

export type TemplateQuery = Static<typeof TemplateQuery>;

const Variable = closed(
  {
    name: Type.String(),
    component: literals(COMPONENTS),
    required: Type.Boolean({ description: "True when an environment needs it." }),
    secret: Type.Boolean({ description: "True when its value is kept in the secret manager, and shown nowhere." }),
    source: literals(["auto", "shared", "config_set", "override"], {
      description:
        "Source of the value: generated; a shared API key, with use_shared_api_keys; the config set; or config_overrides alone.",
    }),
    default: Type.Union([Type.String(), Type.Null()], {
      description:
        "The value without overrides; null: none to show; `***`: hidden, because the variable is a secret of another repository.",
    }),
  },
  { title: "TemplateVariable" },
);

const template = {
  chart: ChartReport,
  values: map(Type.Unknown(), { description: "The values; config_overrides.helm_values may change some of them." }),
  values_yaml: Type.String({ description: "The values as YAML, as helm reads it." }),
  variables: Type.Array(Variable, { description: "The variables of the pods." }),
};

const example = {
  chart: { repo_url: "https://git.example.com/platform/charts.git", path: "environment", revision: "main" },
  values: {
    environment: { name: "my-environment", uid: "00000000-0000-4000-8000-000000000000" },
    backend: { image: "registry.example.com/shop/shop-api:{commit}", port: 8080, replicas: 1 },
  },
  values_yaml: 'environment:\n  name: "my-environment"\n',
  variables: [
    {
      name: "LOG_LEVEL",
      component: "backend",
      required: false,
      secret: false,
      source: "config_set",
      default: "info",
    },
    { name: "SECRET_KEY", component: "backend", required: true, secret: true, source: "auto", default: null },
  ],
};

export const ChartTemplateReport = closed(template, titled("ChartTemplate", example));
export type ChartTemplateReport = Static<typeof ChartTemplateReport>;

/** Template in version 2. */
export const MappedTemplateReport = closed(
  {
    ...template,
    mapping: closed(
      {
        chart: orNull(
          Type.String(),
          "As the chart of the repository, or of the settings, says; null: it says nothing.",
        ),
        config_set: orNull(Type.String(), "As the config set says, over those of the chart; null: it says nothing."),
      },
      {
        title: "ValuesMapping",
        description: "Template of the values: YAML with references `${…}`. Both null: the platform's own layout.",
      },
    ),
  },
  titled("MappedChartTemplate", {
    ...example,
    mapping: { chart: "image: {repository: '${backend.image.repository}'}\n", config_set: null },
  }),
);
