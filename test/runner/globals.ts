/** The exports of `@jest/globals`, from the process itself: see native.ts. */
import { jestExpect } from "@jest/expect";
import { ModuleMocker } from "jest-mock";

export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from "jest-circus";
export { jestExpect as expect };

const mocker = new ModuleMocker(globalThis);

/** The used part of Jest's object. */
export const jest = {
  spyOn: mocker.spyOn.bind(mocker),
  /** The limit of every test of the file, in milliseconds. */
  setTimeout(ms: number): void {
    (globalThis as Record<symbol, unknown>)[Symbol.for("TEST_TIMEOUT_SYMBOL")] = ms;
  },
};
