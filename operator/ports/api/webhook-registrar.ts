import type { Repository } from "../../../crds/repository/repository.ts";
import type { HookFault, LastDelivery, RepositoryHook } from "../webhooks/repository-hooks.ts";

/** Obstacle to a Repository's webhooks. */
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
  readonly message: string;
  /** Remedy, as a sentence. */
  readonly remedy: string;
}

/** A hook that delivers to the platform, or did under another address. */
export interface CheckedHook extends Pick<RepositoryHook, "id" | "events" | "state"> {
  /** Address without query and credentials. */
  readonly address: string;
  /** True for the expected address. */
  readonly isHere: boolean;
  readonly lastDelivery?: LastDelivery;
}

/** Existing and missing webhooks of a Repository. */
export interface HookCheck {
  /** `undefined` when the Repository or the settings name none. */
  readonly host?: { readonly id: string; readonly kind: string };
  /** Expected address of hooks; `undefined` when the settings lack the platform's public address. */
  readonly address?: string;
  readonly hooks: readonly CheckedHook[];
  /** Worst first; empty: events arrive. */
  readonly problems: readonly HookProblem[];
}

/** Checks and repairs the webhooks of Repositories. */
export interface WebhookRegistrar {
  /** Asks the host, with a pause per Repository. Never throws for a problem of the Repository. */
  check(repository: Repository): Promise<HookCheck>;
  /** Registers or repairs the Repository's hook. @throws HookRefused, HookHostUnavailable */
  register(repository: Repository): Promise<void>;
}

/** The hook needs something to be set first; the message names it. */
export class HookRefused extends Error {
  override readonly name = "HookRefused";
}

/** The host is unreachable; the message says why. */
export class HookHostUnavailable extends Error {
  override readonly name = "HookHostUnavailable";
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
