import { type Static, Type } from "typebox";
import { ConfigSetSpec } from "../../crds/config-set.schema.ts";
import { closed, described } from "../../crds/schema.ts";
import { MOST_VARIABLES } from "../../crds/variable-limits.ts";
import {
  Amount,
  COMPONENT_FIELDS,
  type ComponentOverridesRequest,
  SecretKeyRef,
  VARIABLE,
  VARIABLE_TEXT,
} from "../schemas/config-overrides.ts";
import { ConfigSetName, Instant, idPath, titled } from "../schemas/fields.ts";
import { pageOf } from "../schemas/page.ts";
import { DatabaseSeed } from "../schemas/seed.ts";
import { SleepRequest } from "../schemas/sleep.ts";

const { description, production, database, quota, ttlDefaultHours, access } = ConfigSetSpec.properties;
const { enabled, engine, version, sizeGi, mask } = database.properties;
const { pods } = quota.properties;

const Variable = closed(
  {
    name: Type.String(VARIABLE),
    value: Type.Optional(
      Type.String({ ...VARIABLE_TEXT, description: "Plain text, readable for all users of the config set." }),
    ),
    secret_ref: Type.Optional(SecretKeyRef),
  },
  titled(
    "ConfigSetVariable",
    { name: "MAIL_KEY", secret_ref: { name: "mail", key: "latest" } },
    {
      minProperties: 2,
      maxProperties: 2,
      "x-refusal": "must have either a value or a secret_ref",
      description: "A variable with a value, or with a reference to where the secret manager has it.",
    },
  ),
);

const SharedApiKey = closed({ name: Type.String(VARIABLE), secret_ref: SecretKeyRef }, { title: "SharedApiKey" });

const ComponentValues = Type.Unsafe<ComponentOverridesRequest>(
  Type.Object(COMPONENT_FIELDS, {
    additionalProperties: true,
    maxProperties: 100,
    description: "Values of the chart below this component. Values that the platform sets always win.",
  }),
);

const fields = {
  helm_values: closed({ backend: Type.Optional(ComponentValues), frontend: Type.Optional(ComponentValues) }),
  env: Type.Array(Variable, {
    maxItems: MOST_VARIABLES,
    description: "Variables of every component; those of helm_values and of the environment's overrides win.",
  }),
  shared_api_keys: Type.Array(SharedApiKey, {
    maxItems: 50,
    description: "Variables for environments that ask with use_shared_api_keys; everything else of that name wins.",
  }),
  database: closed({
    enabled: Type.Optional(enabled),
    engine: Type.Optional(engine),
    version: Type.Optional(
      Type.Unsafe<string>({ ...version, "x-refusal": "must be a version in digits and dots, such as 18 or 17.2" }),
    ),
    size_gi: Type.Optional(sizeGi),
    seed: Type.Optional(described(DatabaseSeed, "Seed of new databases, for environments that name none.")),
    mask: Type.Optional(
      Type.Unsafe<string[]>({
        ...mask,
        items: { ...mask.items, "x-refusal": "must be a statement of SQL, which begins with no backslash" },
      }),
    ),
  }),
  quota: closed(
    {
      cpu: Type.Optional(Amount),
      memory: Type.Optional(Amount),
      storage: Type.Optional(Amount),
      pods: Type.Optional(pods),
    },
    {
      description: "The quota of an environment's namespace; the installation's default for fields that are left out.",
    },
  ),
  access: closed(
    { groups: access.properties.groups },
    { description: "The groups whose members may use it; everyone when empty." },
  ),
};

/** Fields of a request; missing ones are empty. */
const content = {
  description: Type.Optional(description),
  production: Type.Optional(production),
  helm_values: Type.Optional(fields.helm_values),
  env: Type.Optional(fields.env),
  shared_api_keys: Type.Optional(fields.shared_api_keys),
  database: Type.Optional(fields.database),
  quota: Type.Optional(fields.quota),
  ttl_default_hours: Type.Optional(ttlDefaultHours),
  sleep: Type.Optional(SleepRequest),
  access: Type.Optional(fields.access),
};

const example = {
  name: "web",
  description: "Small, for a working day",
  helm_values: { backend: { replicas: 1, resources: { requests: { cpu: "100m", memory: "128Mi" } } } },
  env: [
    { name: "LOG_LEVEL", value: "info" },
    { name: "MAIL_KEY", secret_ref: { name: "mail", key: "latest" } },
  ],
  shared_api_keys: [{ name: "PAYMENT_KEY", secret_ref: { name: "payment-sandbox", key: "latest" } }],
  database: { enabled: false, version: "18", size_gi: 5 },
  quota: { cpu: "2", memory: "4Gi", pods: 20 },
  ttl_default_hours: 8,
  sleep: { schedule: { time_zone: "Europe/Berlin", awake: ["Mon-Fri 08:00-19:00"] } },
  access: { groups: ["developers"] },
};
const { name: _, ...exampleContent } = example;

export const ConfigSetRequest = closed({ name: ConfigSetName, ...content }, titled("ConfigSetRequest", example));
export type ConfigSetRequest = Static<typeof ConfigSetRequest>;

export const ConfigSetContent = closed(
  {
    name: Type.Optional(Type.String({ maxLength: 253, description: "The one that it has: it can't be changed." })),
    ...content,
  },
  titled("ConfigSetContent", exampleContent, {
    description: "The whole content: a field that is left out is removed.",
  }),
);
export type ConfigSetContent = Static<typeof ConfigSetContent>;

export const ConfigSetPath = idPath("The config set's id: its name.", "web");

export const ConfigSetReport = closed(
  {
    id: Type.String({ description: "Name." }),
    name: Type.String(),
    description: Type.String(),
    is_default: Type.Boolean({ description: "True for the one of environments that name none." }),
    version: Type.Integer({
      description: "Rises with every change; an environment keeps the version that it was created with.",
    }),
    production: Type.Boolean({ description: "True: no environment may use it." }),
    helm_values: fields.helm_values,
    env: fields.env,
    shared_api_keys: fields.shared_api_keys,
    database: fields.database,
    quota: fields.quota,
    ttl_default_hours: Type.Optional(ttlDefaultHours),
    sleep: Type.Optional(SleepRequest),
    access: fields.access,
    used_by: Type.Integer({ description: "Number of environments that use it." }),
    created_by: Type.String({
      description: "Creator; `manifest` when it was not created through this interface.",
    }),
    created_at: Instant,
    updated_at: Instant,
  },
  titled("ConfigSet", {
    id: "web",
    ...example,
    is_default: true,
    version: 3,
    production: false,
    used_by: 12,
    created_by: "dev@example.com",
    created_at: "2026-06-01T12:00:00.000Z",
    updated_at: "2026-06-02T08:30:00.000Z",
  }),
);
export type ConfigSetReport = Static<typeof ConfigSetReport>;
export const ConfigSetPage = pageOf(ConfigSetReport, { title: "ConfigSetPage" });

export const ConfigSetRemoved = closed(
  { message: Type.String({ examples: ["Config set 'web' deleted"] }) },
  { title: "ConfigSetRemoved" },
);
