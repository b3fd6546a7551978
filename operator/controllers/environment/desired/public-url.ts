import type { Component } from "../../../../crds/names.ts";
import type { PlainVariable, Variables } from "./variables.ts";

/** The variable with a component's own URL, as users open it. */
const PUBLIC_URL = "PUBLIC_URL";

/** The variables of a component that are not secret, with its own URL where users give no variable of that name themselves. */
export function withPublicUrl(
  { plain, references, secret }: Variables,
  component: Component,
  url: string,
): readonly PlainVariable[] {
  const given = plain[component] ?? [];
  const isGiven = references.has(PUBLIC_URL) || secret.has(PUBLIC_URL) || given.some(({ name }) => name === PUBLIC_URL);
  return isGiven ? given : [...given, { name: PUBLIC_URL, value: url }];
}
