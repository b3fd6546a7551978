import type { WireObject } from "../../kit/client/kinds.ts";
import { equalJson } from "../../kit/equal-json.ts";
import type { DesiredObject } from "../../ports/cluster.ts";
import { pointerOf } from "./store.ts";

const IDENTITY: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** JSON patch that repairs the object: whole fields are replaced, so that additions vanish too. */
export function drift(desired: DesiredObject, stored: WireObject): object[] {
  // The API server refuses every edit of its data.
  if (stored.immutable === true) return [];
  const { metadata } = desired;
  const replaced = Object.keys(desired)
    .filter((field) => !IDENTITY.has(field) && !isEqual(stored[field], desired[field]))
    .map((field) => ({ op: "add", path: `/${field}`, value: desired[field] }));
  return [
    ...entries("labels", metadata.labels, stored.metadata.labels),
    ...entries("annotations", metadata.annotations, stored.metadata.annotations),
    ...missingFinalizers(metadata.finalizers, stored.metadata.finalizers),
    ...replaced,
  ];
}

/** Shared parts of stored objects, each with the desired part that it last equalled. */
const known = new WeakMap<object, unknown>();

/** Frozen parts are shared by thousands of objects, and so are their desired parts: they are compared once. */
function isEqual(stored: unknown, desired: unknown): boolean {
  if (typeof stored !== "object" || stored === null || !Object.isFrozen(stored)) return equalJson(stored, desired);
  if (known.has(stored) && known.get(stored) === desired) return true;
  const result = equalJson(stored, desired);
  if (result) known.set(stored, desired);
  return result;
}

function entries(
  place: "labels" | "annotations",
  desired: Readonly<Record<string, string>> = {},
  stored: Readonly<Record<string, string>> | undefined,
): object[] {
  const changed = Object.keys(desired).filter((key) => stored?.[key] !== desired[key]);
  if (changed.length === 0) return [];
  const root = stored === undefined ? [{ op: "add", path: `/metadata/${place}`, value: {} }] : [];
  return [
    ...root,
    ...changed.map((key) => ({ op: "add", path: `/metadata/${place}/${pointerOf(key)}`, value: desired[key] })),
  ];
}

function missingFinalizers(desired: readonly string[] = [], stored: readonly string[] = []): object[] {
  const missing = desired.filter((finalizer) => !stored.includes(finalizer));
  return missing.length === 0 ? [] : [{ op: "add", path: "/metadata/finalizers", value: [...stored, ...missing] }];
}
