import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { HOUR_MS } from "../../../crds/durations.ts";
import type { Event, EventRecorder } from "../../../operator/ports/event-recorder.ts";
import type { RecordedEvent } from "../../support/doubles/memory/event-recorder.ts";
import type { TestClock } from "../../support/doubles/test-clock.ts";
import { until } from "../../support/fixtures/until.ts";
import { unique } from "../../support/plane/people.ts";

/** An event recorder, and its readers. */
export interface EventRecorderScene {
  readonly events: EventRecorder;
  readonly clock: TestClock;
  reported(reason: string): Promise<readonly RecordedEvent[]>;
  stop(): Promise<void>;
}

export function eventRecorderSuite(title: string, start: () => Promise<EventRecorderScene>): void {
  describe(`events, ${title}`, () => {
    let scene: EventRecorderScene;
    beforeAll(async () => {
      scene = await start();
    }, 60_000);
    afterAll(() => scene.stop());

    const reportedBy = async (reason: string, count: number) => {
      const isReported = async () =>
        (await scene.reported(reason)).reduce((sum, event) => sum + event.count, 0) >= count;
      await until(isReported, { what: `${reason} being reported ${count} times`, deadlineMs: 10_000 });
      return scene.reported(reason);
    };
    const event = (reason: string, message = "said"): Event => ({ type: "Warning", reason, action: "Say", message });
    const environment = () => ({ name: unique("reported-"), uid: randomUUID() });

    test("writes one event once an hour, and counts how often it is published", async () => {
      const again = event("SaidAgain");
      for (const _again of [1, 2, 3]) scene.events.publish(again);
      expect(await reportedBy("SaidAgain", 3)).toEqual([{ ...again, count: 3 }]);
      scene.clock.advance(HOUR_MS / 2);
      scene.events.publish(again);
      expect(await reportedBy("SaidAgain", 4)).toEqual([{ ...again, count: 4 }]);
      scene.clock.advance(HOUR_MS / 2);
      scene.events.publish(again);
      expect((await reportedBy("SaidAgain", 5)).map(({ count }) => count).sort()).toEqual([1, 4]);
      scene.events.publish({ ...again, message: "another" });
      expect(await reportedBy("SaidAgain", 6)).toHaveLength(3);
    });

    test("writes for each environment apart, also for one that takes the name of another", async () => {
      const [one, other] = [environment(), environment()];
      const about = event("SaidOf");
      for (const owner of [one, other, { ...one, uid: randomUUID() }]) scene.events.publish(about, owner);
      const reported = await reportedBy("SaidOf", 3);
      expect(reported.map(({ environment: name }) => name).sort()).toEqual([one.name, one.name, other.name].sort());
    });

    test("writes for one environment twenty events at once, then one a minute, and for others as before", async () => {
      const [loud, quiet] = [environment(), environment()];
      for (let index = 0; index < 30; index += 1) scene.events.publish(event("SaidMuch", `${index}`), loud);
      scene.events.publish(event("SaidMuch"), quiet);
      expect(await reportedBy("SaidMuch", 21)).toHaveLength(21);
      scene.clock.advance(60_000);
      for (const message of ["after a minute", "too soon"]) scene.events.publish(event("SaidMuch", message), loud);
      const messages = (await reportedBy("SaidMuch", 22)).map(({ message }) => message);
      expect(messages).toContain("after a minute");
      expect(messages).not.toContain("too soon");
    });

    test("truncates what is too long, in whole characters", async () => {
      scene.events.publish(event("SaidAtLength", "ä".repeat(5_000)));
      const [reported] = await reportedBy("SaidAtLength", 1);
      expect(reported?.message).toBe(`${"ä".repeat(510)}…`);
    });
  });
}
