import { memoryEventRecorder } from "../../support/doubles/memory/event-recorder.ts";
import { TestClock } from "../../support/doubles/test-clock.ts";
import { eventRecorderSuite } from "../suites/event-recorder.suite.ts";

eventRecorderSuite("in memory", async () => {
  const clock = new TestClock();
  const events = memoryEventRecorder(clock);
  return {
    events,
    clock,
    reported: async (reason) => events.list().filter((event) => event.reason === reason),
    stop: async () => undefined,
  };
});
