import type { Repository } from "../../../crds/repository/repository.ts";
import type { HookFault, LastDelivery, RepositoryHook } from "../webhooks/repository-hooks.ts";

/** What keeps webhooks of a Repository from arriving. */
export interface HookProblem {
  /** A stable word. */
  readonly reason:
    | HookFault["reason"]
    | "NoHost"
    | "HostUnknown"
    | "TokenMissing"
    | "AddressUnknown"
    | "KeyMissing"
    | "KeyUnreadable"
    | "HostUnavailable"
    | "HostRefused"
    | "HookMissing"
    | "HookInactive"
    | "HookPaused"
    | "HookUnreachable"
    | "HookUnauthentic"
    | "HookRepeated";
  /** What is wrong, for people. */
  readonly message: string;
  /** What to do about it: a sentence. */
  readonly remedy: string;
}

/** A hook that delivers to the platform, or did under another address. */
export interface ExaminedHook extends Pick<RepositoryHook, "id" | "events" | "state"> {
  /** Without a query and credentials. */
  readonly address: string;
  /** Whether that is where hooks belong. */
  readonly isHere: boolean;
  readonly lastDelivery?: LastDelivery;
}

/** The webhooks of a Repository: those that are there, and those that should be. */
export interface Examination {
  /** `undefined` when the Repository or the settings name none. */
  readonly host?: { readonly id: string; readonly kind: string };
  /** Where hooks belong; `undefined` when the settings don't say where the platform is. */
  readonly address?: string;
  readonly hooks: readonly ExaminedHook[];
  /** The worst first; none: events arrive. */
  readonly problems: readonly HookProblem[];
}

/** Finds out what is wrong with the webhooks of Repositories, and repairs them. */
export interface HookDoctor {
  /** Asks the host, at most once in a while for each Repository. Never throws for what is a problem of the Repository. */
  examine(repository: Repository): Promise<Examination>;

  /**
   * Registers the Repository's hook, or repairs it.
   *
   * @throws HookRefused when something has to be set before; HookHostUnavailable
   */
  repair(repository: Repository): Promise<void>;
}

/** The hook can't be registered before something is set; the message says what. */
export class HookRefused extends Error {
  override readonly name = "HookRefused";
}

/** The host can't be asked now; the message says why. */
export class HookHostUnavailable extends Error {
  override readonly name = "HookHostUnavailable";
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
