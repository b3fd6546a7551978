import { unwatchFile, watchFile } from "node:fs";
import type { Settings } from "../config/settings.ts";
import type { LevelledLog } from "./kit/log.ts";

/** A ConfigMap reaches a pod within a minute or two; checking the file's time is cheap. */
const LOOK_EVERY_MS = 5_000;

/** The settings file and its parser, which throws when it is invalid. */
interface SettingsFile {
  readonly path: string;
  read(path: string): Pick<Settings, "logLevel">;
}

/** Follows the log level of the settings file, which needs no restart, until the answered function is called. */
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
