import type { Context } from "../context.ts";
import { plain, plainJson } from "./plain.ts";
import { type Column, tableOf } from "./table.ts";

/** Forms of output: tables for people, others for programs. */
export const FORMS = ["table", "wide", "json", "yaml", "name"] as const;
export type OutputForm = (typeof FORMS)[number];

/** Flags of every command that shows data. */
export interface OutputFlags {
  readonly output: OutputForm;
  readonly headers: boolean;
}

/** Data in each form. */
export interface Shown<T> {
  /** Content of JSON and YAML. */
  readonly data: unknown;
  readonly items: readonly T[];
  readonly columns: readonly Column<T>[];
  /** Content of the form `name`. */
  readonly name: (item: T) => string;
}

/** Writes data to stdout. */
export async function print<T>(context: Context, shown: Shown<T>, flags: OutputFlags): Promise<void> {
  context.process.stdout.write(await textOf(shown, flags));
}

async function textOf<T>({ data, items, columns, name }: Shown<T>, { output, headers }: OutputFlags): Promise<string> {
  switch (output) {
    case "json":
    case "yaml":
      return serialized(data, output);
    case "name":
      return items.map((item) => `${plain(name(item))}\n`).join("");
    case "table":
    case "wide":
      return tableOf(
        items,
        columns.filter(({ wide = false }) => !wide || output === "wide"),
        headers,
      );
  }
}

export async function serialized(data: unknown, form: "json" | "yaml"): Promise<string> {
  if (form === "json") return `${plainJson(data, 2)}\n`;
  // Through JSON, which escapes terminal sequences.
  const { stringify } = await import("yaml");
  return plain(stringify(JSON.parse(JSON.stringify(data)), { lineWidth: 0 }));
}

/** True for complete forms for programs. */
export const isData = (form: OutputForm): form is "json" | "yaml" => form === "json" || form === "yaml";
