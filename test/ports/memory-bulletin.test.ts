import { memoryBulletin } from "../support/doubles/memory-bulletin.ts";
import { TestClock } from "../support/fixtures/test-clock.ts";
import { bulletinSuite } from "./bulletin.suite.ts";

bulletinSuite("in memory", async () => {
  const clock = new TestClock();
  const events = memoryBulletin(clock);
  return {
    ...{ events, clock },
    told: async (reason) => events.list().filter((notice) => notice.reason === reason),
    stop: async () => undefined,
  };
});
