import { callsIn, isOfPlatform, mergedTemplates, refersTo } from "../chart-values/filled-values.ts";
import { type MapTemplate, readValues, type UnreadableValues } from "../chart-values/mapping.ts";
import { HOST_REFERENCES } from "../chart-values/references.ts";
import type { ConfigSetSpec } from "../config-set.schema.ts";
import { COMPONENTS, type Component } from "../names.ts";
import { oncePer } from "../once-per.ts";
import type { ComponentOverrides } from "../overrides.schema.ts";
import { type Chart, RESERVED_PATH_PATTERN } from "./repository.schema.ts";
import { chartOf, type Repository } from "./repository.ts";

/** Reads values once per object; a changed text comes with another object. */
const valuesOf = oncePer(({ values = "" }: { readonly values?: string }) => readValues(values));

/** Problem of chart values, with line and column; `undefined` when they are readable or absent. */
export function valuesProblem(owner: { readonly values?: string } | undefined): string | undefined {
  if (owner?.values === undefined) return undefined;
  const read = valuesOf(owner);
  return "problem" in read ? read.problem : undefined;
}

/** First unlisted further host in chart values; `undefined` without one. */
export function unlistedHost(
  owner: { readonly values?: string } | undefined,
  hosts: readonly { readonly name: string }[],
): string | undefined {
  const read = owner?.values === undefined ? undefined : valuesOf(owner);
  if (read === undefined || "problem" in read) return undefined;
  const named = callsIn(read).filter(({ reference }) => HOST_REFERENCES.includes(reference.name));
  return named.find(({ argument }) => !hosts.some(({ name }) => name === argument))?.argument;
}

type Mapping = MapTemplate | UnreadableValues | undefined;

interface MappingInput {
  readonly repositories: { readonly backend?: Repository | undefined };
  readonly configSet: ConfigSetSpec | undefined;
}

/**
 * Template of an environment's chart values: the chart's own, under those of the config set; `undefined` where neither
 * has any, and the chart gets the platform's layout.
 */
export function mappingOf(
  { repositories, configSet }: MappingInput,
  settings: { readonly defaultChart: Chart },
): Mapping {
  const chart = chartOf(repositories, settings);
  return configSet === undefined ? mappingOfChart(chart) : mergedMapping(chart)(configSet);
}

/** Same as `mappingOf`; `undefined` where it is unreadable. */
export function readableMapping(
  input: MappingInput,
  settings: { readonly defaultChart: Chart },
): MapTemplate | undefined {
  const mapping = mappingOf(input, settings);
  return mapping !== undefined && "problem" in mapping ? undefined : mapping;
}

const mappingOfChart = (chart: Chart) => named(chart, "spec.chart.values of the backend's Repository");

/** Memoized, because many steps of a reconcile need it. */
const mergedMapping = oncePer((chart: Chart) =>
  oncePer((configSet: ConfigSetSpec): Mapping => {
    const [own, over] = [mappingOfChart(chart), named(configSet, "spec.values of the config set")];
    if (own === undefined || over === undefined) return own ?? over;
    if ("problem" in own) return own;
    return "problem" in over ? over : mergedTemplates(own, over);
  }),
);

function named(owner: { readonly values?: string }, field: string): Mapping {
  if (owner.values === undefined) return undefined;
  const read = valuesOf(owner);
  return "problem" in read ? { problem: `${field}: ${read.problem}` } : read;
}

const LAYOUT_PATH = /^(backend|frontend)[.]/;
const RESERVED_PATH = new RegExp(RESERVED_PATH_PATTERN);

/** Reason why environments can't override the value at this path, whatever Repositories list; else `undefined`. */
export function pathProblem(path: string, mapping: MapTemplate | undefined): string | undefined {
  if (mapping !== undefined) {
    return isOfPlatform(mapping, path.split("."))
      ? "the platform sets it: the chart's values have a reference there"
      : undefined;
  }
  if (RESERVED_PATH.test(path)) return "the platform sets it, or it has a field of its own";
  return LAYOUT_PATH.test(path)
    ? undefined
    : "without values of the chart, only paths below a component can be overridden";
}

/** References whose value differs while an environment is suspended. */
const OF_SUSPENSION = [...COMPONENTS.map((component) => `${component}.replicas`), "replicas.orZero(n)", "suspended"];

/** True when the chart's values differ during a suspension, as the platform's layout does. */
export function knowsSuspension(mapping: MapTemplate | undefined): boolean {
  return mapping === undefined || refersTo(mapping, OF_SUSPENSION);
}

const REFERENCES_OF = { env: ["env", "envMap"], replicas: ["replicas"], resources: ["resources"] } as const;

/** Overrides without effect, because the mapping does not refer to them. */
export function unusedOverrides(
  component: Component,
  overrides: ComponentOverrides,
  mapping: MapTemplate | undefined,
): { readonly field: keyof ComponentOverrides; readonly problem: string }[] {
  if (mapping === undefined) return [];
  // References to secrets reach the pods through their Secret.
  const given = { ...overrides, env: overrides.env?.find(({ value }) => value !== undefined) };
  return (Object.keys(REFERENCES_OF) as (keyof typeof REFERENCES_OF)[]).flatMap((field) => {
    const names = REFERENCES_OF[field].map((name) => `${component}.${name}`);
    if (given[field] === undefined || refersTo(mapping, names)) return [];
    return [{ field, problem: `changes nothing: the chart's values have no \${${names.join("} or ${")}}` }];
  });
}
