import type { Settings } from "../../../../config/settings.ts";
import { filledValues } from "../../../../crds/chart-values/filled-values.ts";
import type { MapTemplate } from "../../../../crds/chart-values/mapping.ts";
import type { EnvironmentFacts } from "../../../../crds/chart-values/references.ts";
import { digestOf } from "../../../../crds/digest.ts";
import { componentsOf, type EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { componentUrl, furtherHostsOf } from "../../../../crds/environment/urls.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../../crds/json.ts";
import { COMPONENTS, type Component, componentHost } from "../../../../crds/names.ts";
import type { ComponentOverrides } from "../../../../crds/overrides.schema.ts";
import { canonicalQuantity, thousandthsOfQuantity } from "../../../../crds/quantity.ts";
import { isMovingTag } from "../../../../crds/repository/image-tag.ts";
import { type ChartSource, type Repository, tagTemplateOf } from "../../../../crds/repository/repository.ts";
import { mappingOf } from "../../../../crds/repository/values-mapping.ts";
import { grantedValues } from "../overrides.ts";
import { desiredServices, type PlanInput } from "../plan-input.ts";
import type { ComponentRepositories } from "../repositories.ts";
import { PULL_SECRET, pullPlan } from "./pull-secret.ts";
import { desiredPodSecret } from "./secret.ts";
import { type PlainVariable, type Variables, variablesOf } from "./variables.ts";

/**
 * Chart values of the environment: the platform's layout, or the mapping of chart and config set; a pure function of
 * its input.
 *
 * @throws Error when a component's commit is unresolved, its Repository is missing, or the mapping is unreadable;
 * earlier steps exclude all of them
 */
export function environmentValues(input: PlanInput, settings: Settings): Record<string, unknown> {
  const mapping = mappingOf(input, settings);
  if (mapping === undefined) return layoutValues(input, settings);
  if ("problem" in mapping) throw new Error(mapping.problem);
  return mappedValues(input, mapping, settings);
}

/** Overrides win over the config set, which wins over the mapping's own values; references win over all of them. */
function mappedValues(input: PlanInput, mapping: MapTemplate, settings: Settings): JsonObject {
  const { environment, repositories } = input;
  const { values, ofPlatform } = filledValues(mapping, environmentFacts(input, settings));
  const ofConfigSet = componentsOf(environment).map((component) => {
    const { env: _, replicas: __, resources: ___, ...others } = input.configSet?.helmValues?.[component] ?? {};
    return Object.keys(others).length === 0 ? {} : { [component]: others as JsonObject };
  });
  return merge(values, ...ofConfigSet, ...grantedLayers(environment, { repositories, mapping }), ofPlatform);
}

function environmentFacts(input: PlanInput, settings: Settings): EnvironmentFacts {
  const { environment, repositories } = input;
  const { name, uid } = environment.metadata;
  const variables = variablesOf(input);
  const components = componentsOf(environment).map((component) => {
    const { replicas, resources } = chosenFields(input, component);
    const { branch = "", commit = "" } = environment.status?.sources?.[component]?.applied ?? {};
    const { healthPath: _, ...own } = ownValues(input, component, settings);
    const env = withPublicUrl(variables, component, own.url);
    const fitting = resources && withFittingLimits(resources, settings.isolation.defaultLimit);
    return [component, { ...own, branch, commit, env, replicas, resources: fitting }];
  });
  const database = desiredServices(input).find((service) => service.name === "database");
  const { user, name: databaseName } = (database?.values(input, settings) ?? {}) as { user: string; name: string };
  return {
    environment: { name, uid },
    components: Object.fromEntries(components),
    hosts: furtherHostsOf(environment, repositories, settings),
    secretName: desiredPodSecret(environment),
    imagePullSecrets: pullsWithSecret(environment, repositories) ? [{ name: PULL_SECRET }] : undefined,
    database: database && { host: database.name, user, name: databaseName },
    ingress: { className: settings.ingress.className, annotations: settings.ingress.annotations },
    suspended: environment.spec.suspended ?? false,
  };
}

/** The platform's layout: its own values win over the environment's overrides, the config set's and the chart's. */
function layoutValues(input: PlanInput, settings: Settings): Record<string, unknown> {
  const { environment, repositories } = input;
  const { name, uid } = environment.metadata;
  const variables = variablesOf(input);
  const components = componentsOf(environment).map((component) => {
    const env = withPublicUrl(variables, component, componentUrl(environment, component, settings));
    const values = { ...chosenValues(input, component, settings), ...ownValues(input, component, settings) };
    return [component, env.length === 0 ? values : { ...values, env }];
  });
  const services = desiredServices(input).map((service) => [service.name, service.values(input, settings)]);
  const values = {
    environment: { name, uid },
    ...Object.fromEntries([...components, ...services]),
    secret: { name: desiredPodSecret(environment) },
    ...(pullsWithSecret(environment, repositories) ? { imagePullSecrets: [{ name: PULL_SECRET }] } : {}),
  };
  return environment.spec.suspended ? suspendedValues(values) : values;
}

/** The Secret may outlive its request, because former pods may still need it. */
function pullsWithSecret({ status }: EphemeralEnvironment, repositories: ComponentRepositories): boolean {
  return (status?.pullSecret ?? []).length > 0 && pullPlan(repositories).length > 0;
}

/** Hash of the desired chart and values, in 12 hex digits. */
export function hashOfDesired(chart: ChartSource, values: Readonly<Record<string, unknown>>): string {
  return digestOf([chart, values], 12);
}

function chosenValues(input: PlanInput, component: Component, { isolation }: Settings): JsonObject {
  const { environment, repositories } = input;
  const granted = grantedLayers(environment, { repositories, mapping: undefined });
  const { [component]: values } = merge({ [component]: chosenFields(input, component) }, ...granted);
  const { env: _, resources, ...others } = values as JsonObject;
  if (resources === undefined) return others;
  return { ...others, resources: withFittingLimits(resources as Resources, isolation.defaultLimit) };
}

/** Fields of the environment over those of the config set. */
function chosenFields({ environment, configSet }: PlanInput, component: Component) {
  const ofConfigSet = (configSet?.helmValues?.[component] ?? {}) as JsonObject;
  const ofEnvironment = (environment.spec.overrides?.[component] ?? {}) as JsonObject;
  return merge(ofConfigSet, ofEnvironment) as JsonObject & { replicas?: number; resources?: Resources };
}

/** Granted overrides of chart values, each as an object; sorted by path. */
function grantedLayers(environment: EphemeralEnvironment, allowing: Parameters<typeof grantedValues>[1]): JsonObject[] {
  const paths = grantedValues(environment, allowing).toSorted((one, other) => (one.path < other.path ? -1 : 1));
  return paths.map(({ path, value }) => nested(path.split("."), value));
}

function ownValues({ environment, repositories }: PlanInput, component: Component, settings: Settings) {
  const repository: Repository | undefined = repositories[component];
  if (repository === undefined) throw new Error(`the repository of ${component} is not known`);
  const applied = environment.status?.sources?.[component]?.applied;
  if (applied === undefined) throw new Error(`the commit of ${component} is not settled`);
  return {
    image: applied.image,
    commit: applied.commit,
    // Under a constant tag, only a new pull finds the commit's image.
    pullPolicy: isMovingTag(tagTemplateOf(repository)) ? "Always" : "IfNotPresent",
    port: repository.spec.port ?? 8080,
    healthPath: repository.spec.healthPath ?? "/",
    host: componentHost(environment.metadata.name, component, settings.baseDomain),
    url: componentUrl(environment, component, settings),
  };
}

type Resources = NonNullable<ComponentOverrides["resources"]>;

/**
 * Resources of a component, with a limit for every request above the namespace's default limit: Kubernetes gives a
 * container without a limit the default one, and refuses a pod whose request exceeds its limit.
 *
 * @param defaultLimit default limits of a container, by resource (the setting `isolation.defaultLimit`)
 */
export function withFittingLimits(resources: Resources, defaultLimit: Readonly<Record<string, string>>): Resources {
  const raised = (["cpu", "memory"] as const).flatMap((resource) => {
    const request = resources.requests?.[resource];
    const byDefault = defaultLimit[resource];
    if (request === undefined || byDefault === undefined || resources.limits?.[resource] !== undefined) return [];
    const isAbove = thousandthsOfQuantity(request) > thousandthsOfQuantity(byDefault);
    return isAbove ? [[resource, canonicalQuantity(request)] as const] : [];
  });
  return raised.length === 0
    ? resources
    : { ...resources, limits: { ...resources.limits, ...Object.fromEntries(raised) } };
}

/**
 * Merges the layers, later over earlier: objects merge, other values replace. Keys are sorted, so equal values have
 * equal text. `__proto__` is a key like any other.
 */
export function merge(...layers: readonly JsonObject[]): JsonObject {
  return layers.reduce(merged, {});
}

/** An object with the value at the path and nothing else. */
export function nested(path: readonly string[], value: Json): JsonObject {
  const [key = "", ...rest] = path;
  return Object.fromEntries([[key, rest.length === 0 ? value : nested(rest, value)]]);
}

function merged(below: JsonObject, above: JsonObject): JsonObject {
  const keys = [...new Set([...Object.keys(below), ...Object.keys(above)])].sort();
  return Object.fromEntries(keys.map((key) => [key, one(own(below, key), own(above, key))]));
}

function one(below: Json | undefined, above: Json | undefined): Json | undefined {
  if (above === undefined) return below;
  // Merged even alone, for the order of its keys.
  return isJsonObject(above) ? merged(isJsonObject(below) ? below : {}, above) : above;
}

const own = (object: JsonObject, key: string) => (Object.hasOwn(object, key) ? object[key] : undefined);

/** Variable with a component's own URL for users. */
const PUBLIC_URL = "PUBLIC_URL";

/** Plain variables of a component, with its own URL unless users set that variable. */
function withPublicUrl(
  { plain, references, secret }: Variables,
  component: Component,
  url: string,
): readonly PlainVariable[] {
  const given = plain[component] ?? [];
  const isGiven = references.has(PUBLIC_URL) || secret.has(PUBLIC_URL) || given.some(({ name }) => name === PUBLIC_URL);
  return isGiven ? given : [...given, { name: PUBLIC_URL, value: url }];
}

/**
 * Values of a suspended environment: `replicas: 0` for every component, over any override, and `suspended` for the rest
 * of the chart. The deployer's self-heal keeps it so.
 */
export function suspendedValues(values: Record<string, unknown>): Record<string, unknown> {
  const scaled = COMPONENTS.flatMap((component) => {
    const given = values[component] as object | undefined;
    return given === undefined ? [] : [[component, { ...given, replicas: 0 }]];
  });
  return { ...values, ...Object.fromEntries(scaled), suspended: true };
}
