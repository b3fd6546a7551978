import { appendFileSync, mkdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";

/** Maximum size of a log, in characters. */
const MOST = 4 * 2 ** 20;

/**
 * Opens the log of a test's program, where the run keeps logs (`PROGRAM_LOGS`); its name begins with that of the test file.
 * Answers a function that appends. The end of a long log is kept, at least half the maximum, in two files.
 */
export function programLog(name: string, most = MOST): (text: string) => void {
  const { PROGRAM_LOGS, TEST_FILE } = process.env;
  if (!PROGRAM_LOGS) return () => undefined;
  const whole = TEST_FILE ? `${basename(TEST_FILE, ".test.ts")}-${name}` : name;
  const [file, older] = [join(PROGRAM_LOGS, `${whole}.log`), join(PROGRAM_LOGS, `${whole}.older.log`)];
  let written = 0;
  return (text) => {
    if (written === 0) mkdirSync(PROGRAM_LOGS, { recursive: true });
    if (written > 0 && written + text.length > most / 2) {
      renameSync(file, older);
      written = 0;
    }
    appendFileSync(file, text);
    written += text.length;
  };
}
