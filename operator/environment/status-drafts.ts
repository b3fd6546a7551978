import { isDeepStrictEqual } from "node:util";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { Clock } from "../kit/time/clock.ts";

/** A status that is not stored, or not yet. */
interface Draft {
  /** Of the environment; another one may have its name. */
  readonly uid: string;
  /** What was stored when it was made: where that is another one now, another operator wrote it. */
  readonly over: EnvironmentStatus | undefined;
  readonly status: EnvironmentStatus;
  /** Absent where it was to be stored and could not. */
  readonly wait?: Wait;
}

/** A status may wait for what the next passes find, until its time is up. */
interface Wait {
  isOver: boolean;
  readonly cancel: () => void;
}

/** Half the time in which people and pipelines look again, and enough for the deployer's next word. */
const LONGEST_WAIT_MS = 500;

/**
 * What passes found out and did not store. The next pass goes on from it, also when the spec has changed meanwhile: some of
 * what steps make shows in nothing but the status.
 *
 * Kept in memory only. A crash costs these writes once.
 */
export class StatusDrafts {
  readonly #drafts = new Map<string, Draft>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The environment as the last pass left it, whether that is stored or not. */
  continued(environment: EphemeralEnvironment): EphemeralEnvironment {
    const draft = this.#of(environment);
    return draft === undefined ? environment : { ...environment, status: draft.status };
  }

  /** The status that has waited long enough and is to be stored before anything else. */
  due(environment: EphemeralEnvironment): EnvironmentStatus | undefined {
    const draft = this.#of(environment);
    return draft?.wait?.isOver ? draft.status : undefined;
  }

  /**
   * Keeps a status that may wait a moment for what the next passes find; the moment counts from the first that waits.
   *
   * @param again asks for a pass when the moment is over
   * @returns false when the status is to be stored now: the moment is over, or the last one could not be stored
   */
  postpone(environment: EphemeralEnvironment, status: EnvironmentStatus, again: () => void): boolean {
    const draft = this.#of(environment);
    const wait = draft === undefined ? this.#begin(environment.metadata.name, again) : draft.wait;
    if (wait === undefined || wait.isOver) return false;
    this.#keep(environment, { status, wait });
    return true;
  }

  /** Keeps the status until `write` has stored it; answers what that answers. */
  async store<R>(environment: EphemeralEnvironment, status: EnvironmentStatus, write: () => Promise<R>): Promise<R> {
    this.forget(environment.metadata.name);
    this.#keep(environment, { status });
    const written = await write();
    this.#drafts.delete(environment.metadata.name);
    return written;
  }

  /** To be called when the environment goes, or when nothing of it is left to store. */
  forget(name: string): void {
    this.#drafts.get(name)?.wait?.cancel();
    this.#drafts.delete(name);
  }

  #of({ metadata, status }: EphemeralEnvironment): Draft | undefined {
    const draft = this.#drafts.get(metadata.name);
    return draft?.uid === metadata.uid && isDeepStrictEqual(draft.over, status) ? draft : undefined;
  }

  #keep({ metadata, status: over }: EphemeralEnvironment, draft: Pick<Draft, "status" | "wait">): void {
    this.#drafts.set(metadata.name, { uid: metadata.uid, over, ...draft });
  }

  #begin(name: string, again: () => void): Wait {
    this.forget(name);
    const end = () => {
      wait.isOver = true;
      again();
    };
    const wait: Wait = { isOver: false, cancel: this.#clock.setTimer(LONGEST_WAIT_MS, end) };
    return wait;
  }
}
