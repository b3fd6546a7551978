import { homedir } from "node:os";
import { join } from "node:path";

/** Folder of the command line's files: https://specifications.freedesktop.org/basedir-spec/latest/. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  if (env.EENV_CONFIG_DIR) return env.EENV_CONFIG_DIR;
  if (process.platform === "win32" && env.APPDATA) return join(env.APPDATA, "eenv");
  return join(env.XDG_CONFIG_HOME || join(homedir(), ".config"), "eenv");
}
