import { rename, writeFile } from "node:fs/promises";

/** Writes a file atomically, by a rename: readers never see half of it. */
export async function writeWhole(file: string, content: string, mode = 0o666): Promise<void> {
  await writeFile(`${file}.new`, content, { mode });
  await rename(`${file}.new`, file);
}
