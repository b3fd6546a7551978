import { isDeepStrictEqual } from "node:util";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Clock } from "../../../kit/time/clock.ts";

/** A status that is not stored yet, or could not be stored. */
interface Draft {
  /** UID of the environment, because another may take its name later. */
  readonly uid: string;
  /** Stored status at the draft's creation; a difference means a write by another operator. */
  readonly over: EnvironmentStatus | undefined;
  readonly status: EnvironmentStatus;
  /** Absent after a failed write. */
  readonly wait?: Wait;
}

interface Wait {
  isOver: boolean;
  readonly cancel: () => void;
}

/** Half the polling interval of users and pipelines, and long enough for the deployer's next update. */
const LONGEST_WAIT_MS = 500;

/**
 * Unstored statuses, from which the next reconcile continues, even after a spec change: some of the steps' work is
 * visible only there.
 *
 * In memory only: a crash repeats these findings.
 */
export class StatusDrafts {
  readonly #drafts = new Map<string, Draft>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The environment with the last reconcile's status, stored or not. */
  continued(environment: EphemeralEnvironment): EphemeralEnvironment {
    const draft = this.#of(environment);
    return draft === undefined ? environment : { ...environment, status: draft.status };
  }

  due(environment: EphemeralEnvironment): EnvironmentStatus | undefined {
    const draft = this.#of(environment);
    return draft?.wait?.isOver ? draft.status : undefined;
  }

  /**
   * Debounces the write: postpones it for the next reconciles' findings; the wait starts with the first one.
   *
   * @param requeue called at the end of the wait
   * @returns false when the status must be stored now: the wait is over, or the last write failed
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

  /** Call when the environment is gone or has nothing left to store. */
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
