import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { readSettings } from "../../../config/settings.ts";
import { writeWhole } from "../../../deploy/local/processes/whole-file.ts";
import type { LogLevel } from "../../../operator/kit/log.ts";
import { followLogLevel } from "../../../operator/log-level.ts";
import { recordedLog } from "../../support/fixtures/recorded-log.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";

let folder: string;
let file: string;
let end: () => void;
const { log: recorded, lines } = recordedLog();
const log = { ...recorded, level: "info" as LogLevel };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "log-level-"));
  file = join(folder, "settings.yaml");
  await writeWhole(file, stringify({ ...testSettings, logLevel: "info" }));
  end = followLogLevel({ path: file, read: readSettings }, log, { lookEveryMs: 10 });
});
afterEach(async () => {
  end();
  await rm(folder, { recursive: true, force: true });
});

// Atomically, as a ConfigMap's files change. A file written in place is empty for a moment.
test("the level follows the settings file; what is not valid changes nothing", async () => {
  await writeWhole(file, stringify({ ...testSettings, logLevel: "debug" }));
  await until(() => log.level === "debug");
  await writeWhole(file, "logLevel: loud");
  await until(() => lines.some(({ level }) => level === "warn"));
  expect(log.level).toBe("debug");
  await writeWhole(file, stringify({ ...testSettings, logLevel: "error" }));
  await until(() => log.level === "error");
  expect(lines.map(({ message, from, to }) => [message, from, to])).toEqual([
    ["the log level changes", "info", "debug"],
    ["the changed settings are not valid: the log level stays", undefined, undefined],
    ["the log level changes", "debug", "error"],
  ]);
});
