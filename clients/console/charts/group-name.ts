/** Name of a summary's row: a name, those without one, or all that are not named. */
export function groupName({
  id,
  kind,
}: {
  readonly id: string | null;
  readonly kind: "named" | "none" | "other";
}): string {
  return id ?? (kind === "none" ? "none" : "all others");
}

/** Person behind an id (`<issuer>#<sub>`), by name where one is known. */
export function personName(id: string | null, people: readonly { id: string; name: string; email: string }[]) {
  const known = people.find((one) => one.id === id);
  return known?.name || known?.email || (id?.slice(id.indexOf("#") + 1) ?? null);
}
