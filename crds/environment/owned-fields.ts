import type { ManagedFields } from "../group.ts";

/** Fields in the spelling of `fieldsV1`: `f:name`, `k:{"key":"…"}` and `v:value`, and `.` for the object itself. */
export type FieldSet = { readonly [path: string]: FieldSet };

type Json = Readonly<Record<string, unknown>>;

/** Part of a JSON value that a set of fields selects. */
export function partOf(value: unknown, fields: FieldSet): unknown {
  const members = Object.entries(fields).filter(([path]) => path !== ".");
  // A value that is owned as one.
  if (Object.keys(fields).length === 0) return value;
  if (Array.isArray(value)) return members.flatMap(([path, below]) => elements(value, path, below));
  if (typeof value !== "object" || value === null) return value;
  const named = members.map(([path, below]) => [path.slice("f:".length), below] as const);
  const present = named.filter(([name]) => Object.hasOwn(value, name));
  return Object.fromEntries(present.map(([name, below]) => [name, partOf((value as Json)[name], below)]));
}

function elements(list: readonly unknown[], path: string, below: FieldSet): unknown[] {
  const named: unknown = JSON.parse(path.slice("k:".length));
  const isNamed = (element: unknown) =>
    path.startsWith("v:")
      ? element === named
      : Object.entries(named as Json).every(([key, value]) => (element as Json)[key] === value);
  return list.filter(isNamed).map((element) => partOf(element, below));
}

/** Fields of the spec among the fields of some managers. */
export function specFields(written: readonly ManagedFields[]): FieldSet {
  const sets = written.map(({ fieldsV1 }) => (fieldsV1 as FieldSet | undefined)?.["f:spec"] ?? {});
  return sets.reduce(union, {});
}

function union(one: FieldSet, other: FieldSet): FieldSet {
  const both = Object.entries(other).map(([path, below]) => [path, union(one[path] ?? {}, below)] as const);
  return { ...one, ...Object.fromEntries(both) };
}
