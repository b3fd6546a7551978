import type { Sensitive } from "../../../crds/sensitive.ts";
import type { HostedRepository } from "./pull-request-host.ts";

/** A webhook of a repository, as its host has it. */
export interface RepositoryHook {
  /** As the host numbers it. */
  readonly id: string;
  /** Addresses of others may hold credentials. */
  readonly url: string;
  /** The events that it sends, as the host names them. */
  readonly events: readonly string[];
  /** `inactive`: a person has switched it off; `paused`: its host has, because its deliveries failed. */
  readonly state: "active" | "inactive" | "paused";
  /** When its configuration was changed last, in ISO 8601; `undefined` where the host does not tell. */
  readonly changedAt?: string;
  /** In what it differs from what `put` writes, as far as the host tells. */
  readonly faults: readonly HookFault[];
}

/** What is wrong with how a hook is configured. */
export interface HookFault {
  readonly reason: "EventsMissing" | "BranchesFiltered" | "FormatWrong" | "CertificateUnchecked" | "SecretMissing";
  /** One clause, such as `it does not send push`. */
  readonly message: string;
}

/** The delivery of a hook that its host sent last. */
export interface LastDelivery {
  /** In ISO 8601; `undefined` where the host does not tell. */
  readonly at?: string;
  /** Our answer, as the host words it. */
  readonly answer: string;
  readonly isAccepted: boolean;
  /** Whether we refused its signature or token. */
  readonly isUnauthentic: boolean;
}

/** A hook that is wanted: its events, format and checks of certificates are those that the platform needs of the host. */
export interface WantedHook {
  readonly address: string;
  /** What its deliveries are signed with. */
  readonly key: Sensitive;
}

/**
 * The webhooks of repositories on the hosts of the settings. Only the address in the settings is called. Every method throws
 * PullRequestHostFailed.
 */
export interface RepositoryHooks {
  /** The first page of them: 50 at least. */
  list(repository: HostedRepository, signal: AbortSignal): Promise<readonly RepositoryHook[]>;

  /** `undefined` when there was none lately, or the host does not tell. */
  lastDelivery(repository: HostedRepository, hook: string, signal: AbortSignal): Promise<LastDelivery | undefined>;

  /**
   * Makes the wanted hook the only one of its address, active and with this key; those of other addresses stay. Where it can,
   * it has the host send a delivery, so that the last one tells of the hook as it is now. Idempotent.
   */
  put(repository: HostedRepository, wanted: WantedHook, signal: AbortSignal): Promise<void>;

  /** Has the host go on with a hook that it paused, by a delivery that has to be accepted. */
  resume(repository: HostedRepository, hook: string, signal: AbortSignal): Promise<void>;

  /** The right that the host's token needs for these calls, in the host's words. The host is not asked. */
  neededRight(repository: HostedRepository): string;
}
