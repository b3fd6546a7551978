import { memoryBulletin } from "../support/memory-bulletin.ts";
import { TestClock } from "../support/test-clock.ts";
import { bulletinSuite } from "./bulletin.suite.ts";

bulletinSuite("in memory", async () => {
  const clock = new TestClock();
  const bulletin = memoryBulletin(clock);
  return {
    ...{ bulletin, clock },
    told: async (reason) => bulletin.list().filter((notice) => notice.reason === reason),
    stop: async () => undefined,
  };
});
