import { rename, writeFile } from "node:fs/promises";

/** Writes a file that others may read at any moment: renamed into place, so that nobody finds half of it. */
export async function writeWhole(
  file: string,
  content: string,
  options: { readonly mode?: number } = {},
): Promise<void> {
  await writeFile(`${file}.new`, content, options);
  await rename(`${file}.new`, file);
}
