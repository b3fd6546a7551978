import { momentOf } from "./lines.ts";
import type { SourcedLine } from "./reading.ts";

/** Clocks of nodes that are further apart than this are broken. */
const SKEW_MS = 10_000;

/** Where a reader of several containers' logs may go on: one moment for all of them, although each node has its own clock. */
export class PodLogPositions {
  /** By container: the moment of the last line that was told, or after which all is told. */
  readonly #told = new Map<string, string>();

  /** Of these containers, nothing after that moment has been told. */
  begin(containers: Iterable<string>, moment: string): void {
    for (const container of containers) this.#told.set(container, moment);
  }

  /**
   * For each of these lines, in order, the moment after which the rest is: how far the last of the containers is that go
   * on. One that writes nothing holds the others back no further than clocks may differ. What is told twice is no loss.
   */
  of(lines: readonly SourcedLine[], goingOn: readonly string[]): readonly string[] {
    return lines.map(({ key, at }) => {
      this.#told.set(key, at);
      const slowest = goingOn.map((container) => this.#told.get(container) ?? "").reduce(earlier, at);
      return later(slowest, momentOf(new Date(Date.parse(at) - SKEW_MS)));
    });
  }
}

const earlier = (one: string, other: string) => (other < one ? other : one);
const later = (one: string, other: string) => (other > one ? other : one);
