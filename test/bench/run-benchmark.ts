import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { isHeld, report, type Verdict } from "./verdict.ts";

/** Opens a benchmark's resources, which are closed in the reverse order at its end. */
export interface Openings {
  /** Waits until it is open. It is closed at the end of the benchmark, also after an interruption during its opening. */
  open<T extends { stop(): Promise<unknown> }>(opening: T | Promise<T>): Promise<T>;
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Runs a benchmark, closes its resources, and prints its verdicts. The exit status is 0 when every bound is held, and 1
 * otherwise, also after a failure; an interruption closes everything first and exits with 128 and the signal's number.
 */
export async function runBenchmark(measure: (openings: Openings) => Promise<readonly Verdict[]>): Promise<void> {
  const opened = new AsyncDisposableStack();
  let ending: Promise<void> | undefined;
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      ending ??= opened.disposeAsync().finally(() => process.exit(code));
    });
  }
  try {
    const verdicts = await measure({ open: (opening) => open(opened, opening) });
    console.log(report(verdicts));
    process.exitCode = verdicts.every(isHeld) ? 0 : 1;
  } catch (error) {
    // Closing at an interruption makes the measurement fail.
    await ending;
    throw error;
  } finally {
    await opened.disposeAsync();
  }
  const loads = loadavg().map((average) => average.toFixed(1));
  console.log(`load averages at the end: ${loads.join(", ")}`);
}

async function open<T extends { stop(): Promise<unknown> }>(
  opened: AsyncDisposableStack,
  opening: T | Promise<T>,
): Promise<T> {
  const settled = Promise.resolve(opening);
  opened.defer(async () => {
    const value = await settled.catch(() => undefined);
    await value?.stop();
  });
  return settled;
}

/** An option of a benchmark; its upper-case name is a variable for it. */
export interface BenchOption {
  readonly value: string;
  readonly help: string;
}

/** The values of the options, from the command line, else from the environment, else the defaults; `--help` prints them. */
export function optionsOf<Name extends string>(
  options: Readonly<Record<Name, BenchOption>>,
  notes: string,
): Readonly<Record<Name, string>> {
  const named = Object.entries(options) as [Name, BenchOption][];
  const known = named.map(([name, { value }]) => {
    return [name, { type: "string", default: process.env[name.toUpperCase()] || value }] as const;
  });
  const { values } = parseArgs({ options: { ...Object.fromEntries(known), help: { type: "boolean" } } });
  const { help, ...chosen } = values as { readonly help?: boolean };
  if (help !== true) return chosen as Record<Name, string>;
  const lines = named.map(([name, { value, help }]) => {
    const usual = value === "" ? "" : `, default ${value}`;
    return `  --${name.padEnd(14)} ${help} (${name.toUpperCase()}${usual})`;
  });
  process.stdout.write(`Options:\n${lines.join("\n")}\n\n${notes}\nThe exit status is 1 when a bound is not held.\n`);
  process.exit(0);
}
