import type { ConfigSet } from "../../crds/config-set.ts";
import { ConfigInvalid } from "../../crds/errors.ts";
import { secretNames } from "../../crds/repository/repository.ts";
import { mayRead } from "../auth/access.ts";
import type { Caller } from "../auth/callers.ts";
import { HttpError } from "../http-error.ts";
import { concerning } from "../request-context.ts";
import { route, type Services } from "../route.ts";
import { PageQuery } from "../schemas/page.ts";
import { toPage } from "../views/page.ts";
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

interface Concerned {
  readonly params: { readonly id: string };
  readonly body: { readonly name: string };
}

const ofConfigSets = { tag: "config-sets", rate: "caller", envelope: "always" } as const;
const readers = { permission: "configs:read" } as const;
const writers = { permission: "configs:write" } as const;
const one = { path: "/api/config-sets/{id}", params: ConfigSetPath } as const;
const auditTargetOf = ({ params }: Pick<Concerned, "params">) => params.id;

/** A page of the config sets that the caller may know of, by name. */
const listConfigSets = route({
  ...ofConfigSets,
  method: "get",
  path: "/api/config-sets",
  operationId: "listConfigSets",
  summary: "List configuration sets",
  description: "Configuration sets that the caller may use, by name. Only those who may change them see all of them.",
  access: readers,
  query: PageQuery,
  reply: ConfigSetPage,
  links: { "/api/config-sets/{id}": "/items/0/id" },
  refusals: [],
})(({ query, caller }, platform) => {
  const visible = platform.configSets.list().filter((configSet) => mayRead(caller, configSet, "configs:write"));
  const sorted = visible.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const page = toPage(sorted, query);
  const context = contextOf(platform);
  return { ...page, items: page.items.map((configSet) => toConfigSet(configSet, context)) };
});

/** Makes one; environments ask for it by its name. */
const createConfigSet = route({
  ...ofConfigSets,
  method: "post",
  path: "/api/config-sets",
  operationId: "createConfigSet",
  summary: "Create a configuration set",
  description:
    "Makes a configuration set: a named set of values, variables, database and quota settings that environments are created with (`config_set`). Its id is its name.",
  access: writers,
  body: ConfigSetRequest,
  auditTarget: ({ body }: Pick<Concerned, "body">) => body.name,
  reply: ConfigSetReport,
  links: { "/api/config-sets/{id}": "/id" },
  status: 201,
  refusals: ["ENV_CONFIG_INVALID"],
  refuses: ["conflict"],
})(async ({ body, caller }, platform) => {
  const spec = await configSetSpec(body.name, body, { caller, platform });
  const by = caller.email || caller.name || caller.subject;
  const created = await platform.configSets.create(body.name, spec, by).catch(refusedInRestNames);
  if (created === "taken") throw new HttpError("conflict", "A config set of this name exists already");
  return toConfigSet(concerning(created), contextOf(platform));
});

/** One config set in full. */
const getConfigSet = route({
  ...ofConfigSets,
  ...one,
  method: "get",
  operationId: "getConfigSet",
  summary: "Get a configuration set",
  description: "A configuration set. Values of secrets are never shown.",
  access: readers,
  reply: ConfigSetReport,
  refusals: [],
  refuses: ["not-found"],
})(({ params, caller }, platform) => toConfigSet(visibleConfigSet(params.id, caller, platform), contextOf(platform)));

/** Replaces the content; environments keep the version that they were made with. */
const replaceConfigSet = route({
  ...ofConfigSets,
  ...one,
  method: "put",
  operationId: "replaceConfigSet",
  summary: "Replace a configuration set",
  description:
    "Replaces the whole content and raises the version; the same content again leaves the version. Environments keep the version that they were created with.",
  access: writers,
  body: ConfigSetContent,
  auditTarget: auditTargetOf,
  reply: ConfigSetReport,
  refusals: ["ENV_CONFIG_INVALID"],
  refuses: ["not-found"],
})(async ({ params, body, caller }, platform) => {
  const configSet = visibleConfigSet(params.id, caller, platform);
  if (body.name !== undefined && body.name !== configSet.metadata.name) {
    throw new ConfigInvalid([{ field: "name", message: "can't be changed" }]);
  }
  const spec = await configSetSpec(params.id, body, { caller, platform, former: configSet.spec });
  const replaced = await platform.configSets.replace(configSet, spec).catch(refusedInRestNames);
  if (replaced === "gone") throw notFound();
  return toConfigSet(replaced, contextOf(platform));
});

/** Deletes one that no environment has. */
const deleteConfigSet = route({
  ...ofConfigSets,
  ...one,
  method: "delete",
  operationId: "deleteConfigSet",
  summary: "Delete a configuration set",
  description: "Deletes a configuration set that no environment uses, and that is not the default one.",
  access: writers,
  auditTarget: auditTargetOf,
  reply: ConfigSetRemoved,
  refusals: [],
  refuses: ["not-found", "conflict"],
})(async ({ params, caller }, platform) => {
  const configSet = visibleConfigSet(params.id, caller, platform);
  const { name } = configSet.metadata;
  if (name === platform.settings.defaultConfigSet) throw new HttpError("conflict", "The config set is the default one");
  // What another replica has just made may not have reached this one yet.
  const uses = await platform.environments.countNow(({ spec }) => spec.configSet?.name === name);
  if (uses > 0) throw new HttpError("conflict", `The config set is in use: ${uses} environments have it`);
  await platform.configSets.remove(configSet);
  return { message: `Config set '${name}' deleted` };
});

/** One that the caller may not know of is answered exactly like one that does not exist. */
function visibleConfigSet(id: string, caller: Caller, { configSets }: Services): ConfigSet {
  const found = configSets.find(id);
  if (found === undefined || !mayRead(caller, found, "configs:write")) throw notFound();
  return concerning(found);
}

const notFound = () => new HttpError("not-found", "Config set not found");

function contextOf({ settings, environments, repositories }: Services): ConfigSetContext {
  const uses = new Map<string, number>();
  for (const { spec } of environments.list()) {
    if (spec.configSet !== undefined) uses.set(spec.configSet.name, (uses.get(spec.configSet.name) ?? 0) + 1);
  }
  return { settings, uses, secret: secretNames(repositories.list()) };
}

function refusedInRestNames(error: unknown): never {
  throw inRestNames(error);
}

export const configSetRoutes = [
  listConfigSets,
  createConfigSet,
  getConfigSet,
  replaceConfigSet,
  deleteConfigSet,
] as const;
