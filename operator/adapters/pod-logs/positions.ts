import { momentOf } from "./lines.ts";
import type { SourcedLine } from "./reading.ts";

/** Larger differences between nodes' clocks are faults. */
const SKEW_MS = 10_000;

/** Resume position of a reader of several containers: one moment for all, although each node has its own clock. */
export class PodLogPositions {
  /** Moment by container, up to which all lines were sent. */
  readonly #told = new Map<string, string>();

  begin(containers: Iterable<string>, moment: string): void {
    for (const container of containers) this.#told.set(container, moment);
  }

  /**
   * Resume moment for each of these lines, in order: that of the slowest running container. A silent container delays
   * the others only by the greatest clock difference. Repeated lines are harmless.
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
