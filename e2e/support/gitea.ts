import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stateFolder } from "./site.ts";

/** Where the git host with private repositories and a registry answers. */
export const giteaUrl = "http://127.0.0.1:9301";

/** The account that may do everything on it. Fails when `make gitea` has not started it. */
export async function administrator(): Promise<{ readonly name: string; readonly password: string }> {
  return JSON.parse(await readFile(join(stateFolder, "cluster/gitea-administrator.json"), "utf8"));
}
