/**
 * Runs a test file for Jest as Node.js runs any program: TypeScript stripped by Node.js, modules loaded once per worker.
 * Jest itself gives every file a virtual machine and loads every module again, which took most of the tests' time. A
 * worker's test files therefore share modules and the process: a test restores its changes.
 */
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { jestExpect } from "@jest/expect";
import { type AssertionResult, createEmptyTestResult, type TestResult } from "@jest/test-result";
import type { Circus, Config } from "@jest/types";
import { addEventHandler, getState, resetState, run } from "jest-circus";
import { formatExecError, formatResultsErrors } from "jest-message-util";

/** Jest's key for the file's limit of its tests. */
const TIMEOUT = Symbol.for("TEST_TIMEOUT_SYMBOL");

const globals = new URL("globals.ts", import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "@jest/globals" ? { url: globals, shortCircuit: true } : next(specifier, context),
});

// An unawaited error fails the current test.
for (const event of ["uncaughtException", "unhandledRejection"])
  process.on(event, (error: Error) => {
    const { currentlyRunningTest, unhandledErrors } = getState();
    (currentlyRunningTest?.errors ?? unhandledErrors).push(error);
  });

addEventHandler(async (event) => {
  if (event.name === "test_start") jestExpect.setState({ currentTestName: nameOf(event.test), suppressedErrors: [] });
  if (event.name !== "test_done") return;
  const { suppressedErrors } = jestExpect.getState();
  const uncounted = jestExpect.extractExpectedAssertionsErrors().map(({ error }) => error);
  event.test.errors.push(...suppressedErrors, ...uncounted);
});

const runs = new Map<string, number>();

/** Jest's `testRunner`: runs the tests of a file. */
export default async function runFile(
  globalConfig: Config.GlobalConfig,
  config: Config.ProjectConfig,
  _environment: unknown,
  _runtime: unknown,
  path: string,
): Promise<TestResult> {
  resetState();
  const state = getState();
  state.maxConcurrency = globalConfig.maxConcurrency;
  state.testTimeout = globalConfig.testTimeout ?? config.testTimeout;
  if (globalConfig.testNamePattern) state.testNamePattern = new RegExp(globalConfig.testNamePattern, "i");
  jestExpect.setState({ expand: globalConfig.expand, testPath: path });
  delete (globalThis as { [TIMEOUT]?: number })[TIMEOUT];
  process.env.TEST_FILE = path;
  const before = runs.get(path) ?? 0;
  runs.set(path, before + 1);
  // A watched file runs again, which requires another address of its module.
  await import(`${pathToFileURL(path).href}${before > 0 ? `?run=${before}` : ""}`);
  return resultOf(await run(), { globalConfig, config, path });
}

interface Ran {
  readonly globalConfig: Config.GlobalConfig;
  readonly config: Config.ProjectConfig;
  readonly path: string;
}

function resultOf({ testResults, unhandledErrorsDetailed: unhandled }: Circus.RunResult, ran: Ran): TestResult {
  const { config, globalConfig, path } = ran;
  const assertions = testResults.map(assertionOf);
  const count = (status: AssertionResult["status"]) => assertions.filter((one) => one.status === status).length;
  const failures = formatResultsErrors(assertions, config, globalConfig, path) ?? "";
  const others = unhandled.map((error) => formatExecError(error, config, globalConfig, path)).join("\n");
  return {
    ...createEmptyTestResult(),
    testFilePath: path,
    testResults: assertions,
    numFailingTests: count("failed"),
    numPassingTests: count("passed"),
    numPendingTests: count("pending"),
    numTodoTests: count("todo"),
    failureMessage: failures + others || null,
    ...(unhandled.length > 0 ? { testExecError: { message: "", stack: others } } : {}),
  };
}

function assertionOf({ testPath, status, errors, errorsDetailed, ...rest }: Circus.TestResult): AssertionResult {
  const ancestorTitles = testPath.slice(1, -1);
  const title = testPath.at(-1) ?? "";
  const skipped = status === "skip" ? "pending" : status;
  return {
    ancestorTitles,
    title,
    fullName: [...ancestorTitles, title].join(" "),
    status: errors.length > 0 && status === "done" ? "failed" : skipped === "done" ? "passed" : skipped,
    failureMessages: [...errors],
    failureDetails: errorsDetailed,
    ...(rest.duration === undefined ? {} : { duration: rest.duration }),
    invocations: rest.invocations,
    numPassingAsserts: rest.numPassingAsserts,
  } as AssertionResult;
}

function nameOf(test: Circus.TestEntry): string {
  const names = [test.name];
  for (let { parent } = test; parent.parent; parent = parent.parent) names.unshift(parent.name);
  return names.join(" ");
}
