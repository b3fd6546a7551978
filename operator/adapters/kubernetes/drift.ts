import type { WireObject } from "../../kit/client/kinds.ts";
import { equalJson } from "../../kit/equal-json.ts";
import type { DesiredObject } from "../../ports/cluster.ts";

const IDENTITY: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** JSON patch that repairs the object: whole fields are replaced, so that additions vanish too. */
export function drift(wanted: DesiredObject, found: WireObject): object[] {
  // The API server refuses every edit of its data.
  if (found.immutable === true) return [];
  const { metadata } = wanted;
  const replaced = Object.keys(wanted)
    .filter((field) => !IDENTITY.has(field) && !isEqual(found[field], wanted[field]))
    .map((field) => ({ op: "add", path: `/${field}`, value: wanted[field] }));
  return [
    ...entries("labels", metadata.labels, found.metadata.labels),
    ...entries("annotations", metadata.annotations, found.metadata.annotations),
    ...missingFinalizers(metadata.finalizers, found.metadata.finalizers),
    ...replaced,
  ];
}

/** Shared parts of found objects, each with the desired part that it last equalled. */
const known = new WeakMap<object, unknown>();

/** Frozen parts are shared by thousands of objects, and so are their desired parts: they are compared once. */
function isEqual(found: unknown, wanted: unknown): boolean {
  if (typeof found !== "object" || found === null || !Object.isFrozen(found)) return equalJson(found, wanted);
  if (known.has(found) && known.get(found) === wanted) return true;
  const result = equalJson(found, wanted);
  if (result) known.set(found, wanted);
  return result;
}

function entries(
  place: "labels" | "annotations",
  wanted: Readonly<Record<string, string>> = {},
  found: Readonly<Record<string, string>> | undefined,
): object[] {
  const changed = Object.keys(wanted).filter((key) => found?.[key] !== wanted[key]);
  if (changed.length === 0) return [];
  const root = found === undefined ? [{ op: "add", path: `/metadata/${place}`, value: {} }] : [];
  const escaped = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");
  return [
    ...root,
    ...changed.map((key) => ({ op: "add", path: `/metadata/${place}/${escaped(key)}`, value: wanted[key] })),
  ];
}

function missingFinalizers(wanted: readonly string[] = [], found: readonly string[] = []): object[] {
  const missing = wanted.filter((finalizer) => !found.includes(finalizer));
  return missing.length === 0 ? [] : [{ op: "add", path: "/metadata/finalizers", value: [...found, ...missing] }];
}
