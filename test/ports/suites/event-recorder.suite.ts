import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Event, EventRecorder } from "../../../operator/ports/event-recorder.ts";
import type { TestClock } from "../../support/doubles/test-clock.ts";
import { until } from "../../support/fixtures/until.ts";

/** Where something is told, and eyes that are not the operator's. */
export interface EventRecorderScene {
  readonly events: EventRecorder;
  readonly clock: TestClock;
  /** What was told for the reason, in any order. */
  told(reason: string): Promise<readonly Event[]>;
  stop(): Promise<void>;
}

const HOUR_MS = 3_600_000;

/** What every adapter of the port and its double must do. */
export function eventRecorderSuite(title: string, start: () => Promise<EventRecorderScene>): void {
  describe(`a events, ${title}`, () => {
    let scene: EventRecorderScene;
    beforeAll(async () => {
      scene = await start();
    }, 60_000);
    afterAll(() => scene.stop());

    const toldBy = async (reason: string, count: number) => {
      const isTold = async () => (await scene.told(reason)).length >= count;
      await until(isTold, { what: `${count} notices`, deadlineMs: 10_000 });
      return scene.told(reason);
    };

    test("tells one notice once an hour, however often it is published", async () => {
      const notice: Event = { type: "Warning", reason: "SaidAgain", message: "again" };
      for (const _again of [1, 2, 3]) scene.events.publish(notice);
      scene.clock.advance(HOUR_MS);
      for (const _again of [1, 2, 3]) scene.events.publish(notice);
      expect(await toldBy("SaidAgain", 2)).toEqual([notice, notice]);
      scene.events.publish({ ...notice, message: "another" });
      expect(await toldBy("SaidAgain", 3)).toHaveLength(3);
    });

    test("tells what is too long as far as there is room for it", async () => {
      scene.events.publish({ type: "Normal", reason: "SaidAtLength", message: "x".repeat(5_000) });
      const [told] = await toldBy("SaidAtLength", 1);
      expect(told).toMatchObject({ type: "Normal", message: `${"x".repeat(1_023)}…` });
    });
  });
}
