import type { Sensitive } from "../../../crds/sensitive.ts";
import type { HostedRepository } from "./pull-request-host.ts";

/** A repository's webhook on its host. */
export interface RepositoryHook {
  /** Id on the host. */
  readonly id: string;
  /** Others' addresses may hold credentials. */
  readonly url: string;
  /** Sent events, in the host's words. */
  readonly events: readonly string[];
  /** `inactive`: switched off by a person; `paused`: by the host, after failed deliveries. */
  readonly state: "active" | "inactive" | "paused";
  /** Time of the last change of its configuration, ISO 8601; `undefined` where the host does not say. */
  readonly changedAt?: string;
  /** Known differences from what `put` writes. */
  readonly faults: readonly HookFault[];
}

/** A misconfiguration of a hook. */
export interface HookFault {
  readonly reason: "EventsMissing" | "BranchesFiltered" | "FormatWrong" | "CertificateUnchecked" | "SecretMissing";
  /** A clause, such as `it does not send push`. */
  readonly message: string;
}

/** A hook's last delivery. */
export interface LastDelivery {
  /** ISO 8601; `undefined` where the host does not say. */
  readonly at?: string;
  /** Our response, in the host's words. */
  readonly answer: string;
  readonly isAccepted: boolean;
  /** True when we refused its signature or token. */
  readonly isUnauthentic: boolean;
}

/** A desired hook; its events, format and certificate checks are those that the platform needs of the host. */
export interface DesiredHook {
  readonly address: string;
  readonly key: Sensitive;
}

/** Webhooks of repositories. Calls only the address in the settings. Every method throws PullRequestHostFailed. */
export interface RepositoryHooks {
  /** First page: at least 50 hooks. */
  list(repository: HostedRepository, signal: AbortSignal): Promise<readonly RepositoryHook[]>;
  /** `undefined` without a recent one, or where the host does not say. */
  lastDelivery(repository: HostedRepository, hook: string, signal: AbortSignal): Promise<LastDelivery | undefined>;
  /**
   * Makes the desired hook the only one of its address, active and with this key, and triggers a delivery if possible.
   * Idempotent.
   */
  put(repository: HostedRepository, desired: DesiredHook, signal: AbortSignal): Promise<void>;
  /** Resumes a hook that its host paused, by a delivery that must be accepted. */
  resume(repository: HostedRepository, hook: string, signal: AbortSignal): Promise<void>;
  /** The right that the host's token needs for these calls, in the host's words. Sends no request. */
  neededRight(repository: HostedRepository): string;
}
