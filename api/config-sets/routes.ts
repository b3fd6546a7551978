import type { ConfigSet } from "../../crds/config-set.ts";
import { ConfigInvalid } from "../../crds/errors.ts";
import { secretNames } from "../../crds/repository/repository.ts";
import { type Caller, mayRead } from "../auth/access.ts";
import { HttpError } from "../errors.ts";
import { addAuditObject } from "../request-context.ts";
import { feature, route } from "../route.ts";
import { byName, PageQuery, toPage } from "../schemas/page.ts";
import type { Services } from "../services.ts";
import { configSetSpec, inRestNames } from "./intake.ts";
import {
  ConfigSetContent,
  ConfigSetPage,
  ConfigSetPath,
  ConfigSetRemoved,
  ConfigSetReport,
  ConfigSetRequest,
} from "./schemas.ts";
import { type ConfigSetContext, toConfigSet } from "./views.ts";

const listConfigSets = route({
  endpoint: "GET /api/config-sets",
  summary: "List configuration sets",
  description: "Configuration sets that the caller may use, by name; all of them for callers who may change them.",
  access: { permission: "configs:read" },
  query: PageQuery,
  reply: ConfigSetPage,
  links: { "/api/config-sets/{id}": "/items/0/id" },
})(({ query, caller }, services) => {
  const visible = services.configSets.list().filter((configSet) => mayRead(caller, configSet, "configs:write"));
  const context = contextOf(services);
  return toPage(visible.sort(byName), query, (configSet) => toConfigSet(configSet, context));
});

const createConfigSet = route({
  endpoint: "POST /api/config-sets",
  summary: "Create a configuration set",
  description:
    "Creates a configuration set: a named set of values, variables, database and quota settings that environments are created with (`config_set`). Its id is its name.",
  access: { permission: "configs:write" },
  body: ConfigSetRequest,
  auditTarget: ({ body }) => body.name,
  reply: ConfigSetReport,
  links: { "/api/config-sets/{id}": "/id" },
  status: 201,
  errors: ["ENV_CONFIG_INVALID", "conflict"],
})(async ({ body, caller }, services) => {
  const spec = await configSetSpec(body.name, body, { caller, services });
  const by = caller.email || caller.name || caller.subject;
  const created = await services.configSets.create(body.name, spec, by).catch(throwInRestNames);
  if (created === "taken") throw new HttpError("conflict", "A config set of this name exists already");
  return toConfigSet(addAuditObject(created), contextOf(services));
});

const getConfigSet = route({
  endpoint: "GET /api/config-sets/{id}",
  summary: "Get a configuration set",
  description: "A configuration set. Values of secrets are never shown.",
  access: { permission: "configs:read" },
  params: ConfigSetPath,
  reply: ConfigSetReport,
  errors: ["not-found"],
})(({ params, caller }, services) => toConfigSet(visibleConfigSet(params.id, caller, services), contextOf(services)));

const replaceConfigSet = route({
  endpoint: "PUT /api/config-sets/{id}",
  summary: "Replace a configuration set",
  description:
    "Replaces the whole content and raises the version; the same content again leaves the version. Environments keep the version that they were created with.",
  access: { permission: "configs:write" },
  params: ConfigSetPath,
  body: ConfigSetContent,
  reply: ConfigSetReport,
  errors: ["ENV_CONFIG_INVALID", "not-found"],
})(async ({ params, body, caller }, services) => {
  const configSet = visibleConfigSet(params.id, caller, services);
  if (body.name !== undefined && body.name !== configSet.metadata.name) {
    throw new ConfigInvalid([{ field: "name", message: "can't be changed" }]);
  }
  const spec = await configSetSpec(params.id, body, { caller, services, former: configSet.spec });
  const replaced = await services.configSets.replace(configSet, spec).catch(throwInRestNames);
  if (replaced === "gone") throw notFound();
  return toConfigSet(replaced, contextOf(services));
});

const deleteConfigSet = route({
  endpoint: "DELETE /api/config-sets/{id}",
  summary: "Delete a configuration set",
  description: "Deletes a configuration set that no environment uses, and that is not the default one.",
  access: { permission: "configs:write" },
  params: ConfigSetPath,
  reply: ConfigSetRemoved,
  errors: ["not-found", "conflict"],
})(async ({ params, caller }, services) => {
  const configSet = visibleConfigSet(params.id, caller, services);
  const { name } = configSet.metadata;
  if (name === services.settings.defaultConfigSet) throw new HttpError("conflict", "The config set is the default one");
  // At the API server: the cache may lack another replica's creation.
  const uses = await services.environments.countNow(({ spec }) => spec.configSet?.name === name);
  if (uses > 0) throw new HttpError("conflict", `The config set is in use: ${uses} environments have it`);
  await services.configSets.remove(configSet);
  return { message: `Config set '${name}' deleted` };
});

/** An unreadable config set is answered exactly like a missing one. */
function visibleConfigSet(id: string, caller: Caller, { configSets }: Services): ConfigSet {
  const found = configSets.find(id);
  if (found === undefined || !mayRead(caller, found, "configs:write")) throw notFound();
  return addAuditObject(found);
}

const notFound = () => new HttpError("not-found", "Config set not found");

function contextOf({ settings, environments, repositories }: Services): ConfigSetContext {
  const uses = new Map<string, number>();
  for (const { spec } of environments.list()) {
    if (spec.configSet !== undefined) uses.set(spec.configSet.name, (uses.get(spec.configSet.name) ?? 0) + 1);
  }
  return { settings, uses, secret: secretNames(repositories.list()) };
}

function throwInRestNames(error: unknown): never {
  throw inRestNames(error);
}

export const configSetRoutes = feature(
  "config-sets",
  { listConfigSets, createConfigSet, getConfigSet, replaceConfigSet, deleteConfigSet },
  { envelope: "always" },
);
