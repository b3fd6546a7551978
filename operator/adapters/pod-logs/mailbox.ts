import { type Clock, pause } from "../../kit/time/clock.ts";
import type { SourcedLine } from "./reading.ts";

/** Fill level at which a writer waits. */
const FULL_CHARACTERS = 256 * 1024;

/** Mailbox for the lines of many containers, for one reader. */
export class PodLogMailbox {
  #lines: SourcedLine[] = [];
  #characters = 0;
  #alarm = new AbortController();
  #room = Promise.withResolvers<void>();

  /** Resolves when there is space for more. */
  put(line: SourcedLine): Promise<void> | undefined {
    this.#lines.push(line);
    this.#characters += line.text.length;
    this.ring();
    return this.#characters < FULL_CHARACTERS ? undefined : this.#room.promise;
  }

  ring(): void {
    this.#alarm.abort();
  }

  /** Resolves on a line, on `ring`, or after `forMs`. */
  async wait(clock: Clock, forMs: number): Promise<void> {
    if (this.#lines.length === 0) await pause(clock, forMs, this.#alarm.signal);
    this.#alarm = new AbortController();
  }

  take(): readonly SourcedLine[] {
    const taken = this.#lines;
    this.#lines = [];
    this.#characters = 0;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
    return taken;
  }
}
