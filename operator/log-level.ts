import { unwatchFile, watchFile } from "node:fs";
import type { Settings } from "../config/settings.ts";
import type { LevelledLog } from "./kit/log.ts";

/** A ConfigMap reaches a pod within a minute or two; a look at the file's time costs next to nothing. */
const LOOK_EVERY_MS = 5_000;

/** The settings file, and what reads it; that throws when it is not valid. */
export interface SettingsFile {
  readonly path: string;
  read(path: string): Pick<Settings, "logLevel">;
}

/**
 * Writes as much as the settings file says, also after it has changed: the one setting that needs no restart. What is not
 * valid changes nothing.
 *
 * @returns the end of it
 */
export function followLogLevel(file: SettingsFile, log: LevelledLog, { lookEveryMs = LOOK_EVERY_MS } = {}): () => void {
  const look = () => {
    try {
      const { logLevel } = file.read(file.path);
      if (logLevel === log.level) return;
      log.info("the log level changes", { from: log.level, to: logLevel });
      log.level = logLevel;
    } catch (error) {
      log.warn("the changed settings are not valid: the log level stays", { error });
    }
  };
  watchFile(file.path, { interval: lookEveryMs, persistent: false }, look);
  return () => unwatchFile(file.path, look);
}
