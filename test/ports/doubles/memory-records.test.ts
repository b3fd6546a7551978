import { memoryRecords } from "../../support/doubles/memory/records.ts";
import { recordsSuite } from "../suites/records.suite.ts";

recordsSuite("in memory", async () => {
  const records = memoryRecords({ mostPruned: 3 });
  return {
    records,
    kept: async (environment) => records.list().filter(({ name }) => name === environment),
    forget: async () => records.forget(),
    stop: async () => undefined,
  };
});
