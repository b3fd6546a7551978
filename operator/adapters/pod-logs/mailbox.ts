import { type Clock, pause } from "../../kit/time/clock.ts";
import type { SourcedLine } from "./reading.ts";

/** Beyond this, a writer waits until the lines are taken. */
const FULL_CHARACTERS = 256 * 1024;

/** Where the lines of many containers come together, for one reader. */
export class PodLogMailbox {
  #lines: SourcedLine[] = [];
  #characters = 0;
  #alarm = new AbortController();
  #room = Promise.withResolvers<void>();

  /** Resolves when there is room for more. */
  put(line: SourcedLine): Promise<void> | undefined {
    this.#lines.push(line);
    this.#characters += line.text.length;
    this.ring();
    return this.#characters < FULL_CHARACTERS ? undefined : this.#room.promise;
  }

  /** Wakes the reader, whatever it waits for. */
  ring(): void {
    this.#alarm.abort();
  }

  /** Resolves when there is a line, when `ring` is called, or after so long. */
  async wait(clock: Clock, forMs: number): Promise<void> {
    if (this.#lines.length === 0) await pause(clock, forMs, this.#alarm.signal);
    this.#alarm = new AbortController();
  }

  /** All that is here, as it came. */
  take(): readonly SourcedLine[] {
    const taken = this.#lines;
    this.#lines = [];
    this.#characters = 0;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
    return taken;
  }
}
