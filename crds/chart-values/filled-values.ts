import type { Json, JsonObject } from "../json.ts";
import type { MapTemplate, Template } from "./mapping.ts";
import { type Call, calledValue, type EnvironmentFacts } from "./references.ts";

/** Chart values after references are filled in. */
export interface FilledValues {
  readonly values: JsonObject;
  /** Values that references decide: nothing else may change them. */
  readonly ofPlatform: JsonObject;
}

/**
 * Fills in the references. A missing fact is left out, so that the chart's default applies; within a text it is empty.
 */
export function filledValues(template: MapTemplate, facts: EnvironmentFacts): FilledValues {
  return {
    values: mapOf(template, (each) => valueAt(each, facts)),
    ofPlatform: mapOf(template, (each) => valueOfPlatform(each, facts)),
  };
}

function valueAt(template: Template, facts: EnvironmentFacts): Json | undefined {
  switch (template.kind) {
    case "literal":
      return template.value;
    case "reference": {
      const value = calledValue(template.call, facts);
      return template.asText ? textOf(value) : value;
    }
    case "text":
      return template.parts
        .map((part) => (typeof part === "string" ? part : textOf(calledValue(part, facts))))
        .join("");
    case "list":
      return template.items.map((item) => valueAt(item, facts)).filter((item) => item !== undefined);
    case "map":
      return mapOf(template, (each) => valueAt(each, facts));
  }
}

/** A list as a whole, because no path leads into it. */
function valueOfPlatform(template: Template, facts: EnvironmentFacts): Json | undefined {
  if (!hasReferences(template)) return undefined;
  return template.kind === "map" ? mapOf(template, (each) => valueOfPlatform(each, facts)) : valueAt(template, facts);
}

function mapOf({ entries }: MapTemplate, of: (template: Template) => Json | undefined): JsonObject {
  return Object.fromEntries(
    [...entries].flatMap(([key, template]) => {
      const value = of(template);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** Only for text within text: lists and maps never stand there. */
const textOf = (value: Json = "") => (typeof value === "string" ? value : JSON.stringify(value));

function hasReferences(template: Template): boolean {
  switch (template.kind) {
    case "literal":
      return false;
    case "list":
      return template.items.some(hasReferences);
    case "map":
      return [...template.entries.values()].some(hasReferences);
    case "reference":
    case "text":
      return true;
  }
}

/** Merges one template over another: maps merge, anything else replaces. */
export function mergedTemplates(below: MapTemplate, above: MapTemplate): MapTemplate {
  const entries = new Map(below.entries);
  for (const [key, template] of above.entries) {
    const other = entries.get(key);
    const isMerged = other?.kind === "map" && template.kind === "map";
    entries.set(key, isMerged ? mergedTemplates(other, template) : template);
  }
  return { kind: "map", entries };
}

/** True when references decide the value at this path, above it or below it. */
export function isOfPlatform(template: Template, path: readonly string[]): boolean {
  const [key, ...rest] = path;
  if (key === undefined || template.kind !== "map") return hasReferences(template);
  const next = template.entries.get(key);
  return next !== undefined && isOfPlatform(next, rest);
}

/** True when the template has one of these references. */
export function refersTo(template: Template, names: readonly string[]): boolean {
  return callsIn(template).some(({ reference }) => names.includes(reference.name));
}

/** All references of a template, in their order. */
export function callsIn(template: Template): readonly Call[] {
  switch (template.kind) {
    case "literal":
      return [];
    case "reference":
      return [template.call];
    case "text":
      return template.parts.filter((part) => typeof part !== "string");
    case "list":
      return template.items.flatMap(callsIn);
    case "map":
      return [...template.entries.values()].flatMap(callsIn);
  }
}
