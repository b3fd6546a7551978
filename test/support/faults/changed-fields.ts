import { equalJson } from "../../../operator/kit/equal-json.ts";

/** The fields in which two JSON values differ, with old and new value. */
export function changedFields(before: unknown, after: unknown, place = ""): readonly string[] {
  if (equalJson(before, after)) return [];
  if (!isParent(before) || !isParent(after)) return [`${place}: ${inShort(before)} -> ${inShort(after)}`];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const below = (key: string) => (place === "" ? key : `${place}.${key}`);
  return [...keys].flatMap((key) => changedFields(before[key], after[key], below(key)));
}

const isParent = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const LONGEST_VALUE = 200;

function inShort(value: unknown): string {
  const text = value === undefined ? "none" : JSON.stringify(value);
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}…`;
}
