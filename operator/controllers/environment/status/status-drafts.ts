import { isDeepStrictEqual } from "node:util";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Clock } from "../../../kit/time/clock.ts";

/** A status that is not stored yet, or could not be stored. */
interface Draft {
  /** The environment's; another environment may have the same name later. */
  readonly uid: string;
  /** The stored status when the draft was made; if it differs now, another operator wrote it. */
  readonly over: EnvironmentStatus | undefined;
  readonly status: EnvironmentStatus;
  /** Absent when storing it failed. */
  readonly wait?: Wait;
}

/** A status may wait for the findings of the next reconciles until its time is up. */
interface Wait {
  isOver: boolean;
  readonly cancel: () => void;
}

/** Half the interval at which users and pipelines poll, and long enough for the deployer's next update. */
const LONGEST_WAIT_MS = 500;

/**
 * The statuses that reconciles computed and did not store. The next reconcile continues from them, also when the spec has
 * changed, because some of what steps make is visible only in the status.
 *
 * In memory only: after a crash these findings are made again.
 */
export class StatusDrafts {
  readonly #drafts = new Map<string, Draft>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The environment with the status of the last reconcile, stored or not. */
  continued(environment: EphemeralEnvironment): EphemeralEnvironment {
    const draft = this.#of(environment);
    return draft === undefined ? environment : { ...environment, status: draft.status };
  }

  /** The status that has waited long enough and must be stored now. */
  due(environment: EphemeralEnvironment): EnvironmentStatus | undefined {
    const draft = this.#of(environment);
    return draft?.wait?.isOver ? draft.status : undefined;
  }

  /**
   * Keeps a status that may wait for the findings of the next reconciles; the wait starts with the first one.
   *
   * @param requeue called when the wait is over
   * @returns false when the status must be stored now: the wait is over, or the last status could not be stored
   */
  postpone(environment: EphemeralEnvironment, status: EnvironmentStatus, requeue: () => void): boolean {
    const draft = this.#of(environment);
    const wait = draft === undefined ? this.#begin(environment.metadata.name, requeue) : draft.wait;
    if (wait === undefined || wait.isOver) return false;
    this.#keep(environment, { status, wait });
    return true;
  }

  /** Keeps the status until `write` has stored it; returns the result of `write`. */
  async store<R>(environment: EphemeralEnvironment, status: EnvironmentStatus, write: () => Promise<R>): Promise<R> {
    this.forget(environment.metadata.name);
    this.#keep(environment, { status });
    const written = await write();
    this.#drafts.delete(environment.metadata.name);
    return written;
  }

  /** To be called when the environment is gone or nothing of it is left to store. */
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

  #begin(name: string, requeue: () => void): Wait {
    this.forget(name);
    const end = () => {
      wait.isOver = true;
      requeue();
    };
    const wait: Wait = { isOver: false, cancel: this.#clock.setTimer(LONGEST_WAIT_MS, end) };
    return wait;
  }
}
