import { readFile } from "node:fs/promises";
import { misuse } from "../failure.ts";

const MOST_CHARACTERS = 1024 ** 2;

/** Object in the YAML or JSON of a file, or of stdin as `-`. @throws Failure (misuse) when it can't be read */
export async function documentIn(file: string, stdin: NodeJS.ReadStream): Promise<Record<string, unknown>> {
  const content = await contentOf(file, stdin);
  const name = file === "-" ? "stdin" : file;
  if (content.length > MOST_CHARACTERS) throw misuse(`${name} is longer than a MiB`);
  const { parse } = await import("yaml");
  let value: unknown;
  try {
    value = parse(content, { maxAliasCount: 10 });
  } catch (error) {
    throw misuse(`${name} is neither YAML nor JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw misuse(`${name} has no fields`);
  return value as Record<string, unknown>;
}

async function contentOf(file: string, stdin: NodeJS.ReadStream): Promise<string> {
  if (file === "-") {
    const { text } = await import("node:stream/consumers");
    return text(stdin);
  }
  return readFile(file, "utf8").catch((error: Error) => {
    throw misuse(`${file} can't be read: ${error.message}`);
  });
}
