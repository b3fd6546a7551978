import type { Component } from "../../../../crds/names.ts";
import type { PlainVariable, Variables } from "./variables.ts";

/** Variable with a component's own URL for users. */
const PUBLIC_URL = "PUBLIC_URL";

/** Plain variables of a component, with its own URL unless users set that variable. */
export function withPublicUrl(
  { plain, references, secret }: Variables,
  component: Component,
  url: string,
): readonly PlainVariable[] {
  const given = plain[component] ?? [];
  const isGiven = references.has(PUBLIC_URL) || secret.has(PUBLIC_URL) || given.some(({ name }) => name === PUBLIC_URL);
  return isGiven ? given : [...given, { name: PUBLIC_URL, value: url }];
}
