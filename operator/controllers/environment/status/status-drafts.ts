import { isDeepStrictEqual } from "node:util";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Clock } from "../../../kit/time/clock.ts";
import type { EnvironmentStatusWriter } from "../../../ports/environments.ts";
import { sameStatus } from "./status.ts";

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
  readonly #statusWriter: EnvironmentStatusWriter;
  readonly #clock: Clock;

  constructor(statusWriter: EnvironmentStatusWriter, clock: Clock) {
    this.#statusWriter = statusWriter;
    this.#clock = clock;
  }

  /** The environment with the last reconcile's status, stored or not. */
  continued(environment: EphemeralEnvironment): EphemeralEnvironment {
    const draft = this.#of(environment);
    return draft === undefined ? environment : { ...environment, status: draft.status };
  }

  /** Stores the status that has waited long enough, if any; returns the environment as it is stored then. */
  async storeDue(environment: EphemeralEnvironment): Promise<EphemeralEnvironment> {
    const draft = this.#of(environment);
    return draft?.wait?.isOver ? this.#write(environment, draft.status) : environment;
  }

  /**
   * Stores the status, unless it is stored already. One that may wait is debounced: stored with the next ones, until half
   * a second after the first, when `requeue` is called; it does not wait when the last write failed.
   */
  async store(
    environment: EphemeralEnvironment,
    status: EnvironmentStatus,
    { mayWait, requeue }: { readonly mayWait: boolean; readonly requeue: () => void },
  ): Promise<void> {
    if (sameStatus(environment.status, status)) this.forget(environment.metadata.name);
    else if (!mayWait || !this.#postpone(environment, status, requeue)) await this.#write(environment, status);
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

  /** Returns false when the status must be stored now: the wait is over, or the last write failed. */
  #postpone(environment: EphemeralEnvironment, status: EnvironmentStatus, requeue: () => void): boolean {
    const draft = this.#of(environment);
    const wait = draft === undefined ? this.#begin(environment.metadata.name, requeue) : draft.wait;
    if (wait === undefined || wait.isOver) return false;
    this.#keep(environment, status, wait);
    return true;
  }

  /** The draft stays until the status is stored. */
  async #write(environment: EphemeralEnvironment, status: EnvironmentStatus): Promise<EphemeralEnvironment> {
    const { name } = environment.metadata;
    this.forget(name);
    this.#keep(environment, status);
    const result = await this.#statusWriter.writeStatus(environment, status);
    this.#drafts.delete(name);
    return result;
  }

  #keep({ metadata, status: over }: EphemeralEnvironment, status: EnvironmentStatus, wait?: Wait): void {
    this.#drafts.set(metadata.name, { uid: metadata.uid, over, status, ...(wait && { wait }) });
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
