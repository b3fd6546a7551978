/** YAML of a form; the parser is loaded when needed. */

/** Problem of a text that is not a YAML mapping. */
export class UnreadableYaml extends Error {
  override readonly name = "UnreadableYaml";
}

/** Mapping in YAML; `undefined` for an empty text. @throws UnreadableYaml */
export async function readYaml(text: string): Promise<Record<string, unknown> | undefined> {
  if (text.trim() === "") return undefined;
  const { parse } = await import("yaml");
  let value: unknown;
  try {
    // Few aliases: a short text must not become a huge object.
    value = parse(text, { maxAliasCount: 10, schema: "core" });
  } catch (error) {
    throw new UnreadableYaml(`This is no YAML: ${(error as Error).message.split("\n")[0]}`, { cause: error });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UnreadableYaml("Names with values are wanted here, such as 'backend:'.");
  }
  return value as Record<string, unknown>;
}

/** An object as YAML. */
export async function asYaml(value: unknown): Promise<string> {
  const { stringify } = await import("yaml");
  return stringify(value);
}
