import type { Settings } from "../../config/settings.ts";
import { clipped } from "../../crds/conditions.ts";
import type { EnvironmentRecord } from "../../crds/environment/environment-record.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { isProtected } from "../../crds/environment/lifetime.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import { OUTCOME_MESSAGE_MAX_LENGTH, VERDICT_MESSAGE_MAX_LENGTH } from "../../crds/webhooks/webhook-delivery.schema.ts";
import type { RuleVerdict } from "../../crds/webhooks/webhook-delivery.ts";
import type { WebhookEvent } from "../../crds/webhooks/webhook-event.schema.ts";
import type { Clock } from "../ports/clock.ts";
import type { ConfigSets } from "../ports/config-sets.ts";
import type { BranchHeads } from "../ports/facade/branch-heads.ts";
import type { Repositories } from "../ports/repositories.ts";
import type { CommitReport, HostedRepository } from "../ports/webhooks/pull-request-host.ts";
import type { WebhookDeliveries } from "../ports/webhooks/webhook-deliveries.ts";

/** The one thing to do about an event, decided from the state of now. */
export type Decision =
  | {
      readonly do: "create";
      readonly name: string;
      readonly spec: EnvironmentSpec;
      readonly annotations?: Readonly<Record<string, string>>;
      readonly reason: string;
    }
  | {
      readonly do: "update";
      readonly environment: EphemeralEnvironment;
      /** Merged into the spec, on the version that was read. */
      readonly spec: Partial<EnvironmentSpec>;
      /** Merged into the annotations by the same write; null removes one. */
      readonly annotations?: Readonly<Record<string, string | null>>;
      readonly reason: string;
    }
  | {
      readonly do: "delete";
      readonly environment: EphemeralEnvironment;
      /** Written before the deletion, where the environment lacks them: its record remembers them. */
      readonly annotations?: Readonly<Record<string, string>>;
      readonly reason: string;
    }
  /** The name is being deleted: decided again when it is gone. */
  | {
      readonly do: "wait";
      readonly environment: EphemeralEnvironment;
      readonly reason: string;
      readonly message: string;
    }
  /** A status of a commit that has no environment: by the operator, because a host may take its time. */
  | {
      readonly do: "report";
      readonly repository: HostedRepository;
      readonly report: CommitReport;
      readonly reason: string;
    }
  | {
      readonly do: "nothing";
      /** The environment that stays as it is, where there is one. */
      readonly environment?: EphemeralEnvironment | undefined;
      readonly reason: string;
      /** A sentence without names of environments: not everybody who reads it may see them. */
      readonly message: string;
    };

/** A decision, and the rules that led to it in the order of their evaluation. */
export interface Decided {
  readonly decision: Decision;
  readonly trace: readonly RuleVerdict[];
}

/** The decision to do nothing. */
export function nothing(reason: string, message: string, trace: readonly RuleVerdict[] = []): Decided {
  return { decision: { do: "nothing", reason, message: clipped(message, OUTCOME_MESSAGE_MAX_LENGTH) }, trace };
}

/** The decision to leave an environment as it is. */
export function left(
  environment: EphemeralEnvironment,
  reason: string,
  message: string,
  trace: readonly RuleVerdict[] = [],
): Decided {
  return { decision: { do: "nothing", environment, reason, message }, trace };
}

/** The decision to delete an environment, after it was given annotations; one that is protected stays. */
export function deletion(
  environment: EphemeralEnvironment,
  reason: string,
  trace: readonly RuleVerdict[],
  annotations: Readonly<Record<string, string>> = {},
): Decided {
  if (!isProtected(environment)) return { decision: { do: "delete", environment, annotations, reason }, trace };
  return left(environment, "Protected", "it is protected: take the protection back, or delete it later", trace);
}

/** A name that is taken, or about to be free. */
export function nameTaken(environment: EphemeralEnvironment, trace: readonly RuleVerdict[]): Decided {
  if (environment.metadata.deletionTimestamp === undefined) {
    return left(
      environment,
      "NameTaken",
      "an environment of another origin has the name: delete it, or keep it",
      trace,
    );
  }
  const message = "the former environment of the name is being deleted";
  return { decision: { do: "wait", environment, reason: "NameTerminating", message }, trace };
}

/** The verdict of one rule: it is not met when there is a problem. */
export function verdict(repository: Repository, rule: string, problem: string | undefined): RuleVerdict {
  const message = problem === undefined ? {} : { message: clipped(problem, VERDICT_MESSAGE_MAX_LENGTH) };
  return { repository: repository.metadata.name, rule, passed: problem === undefined, ...message };
}

/** What a decision is about: one event, as one Repository sees it. */
export interface Subject {
  readonly event: WebhookEvent;
  readonly repository: Repository;
  /** The id of its host in the settings; empty for the contract's own format. */
  readonly host: string;
  /** The name of the stored delivery; none when it is only simulated. */
  readonly delivery: string | undefined;
}

/** What decisions read of the world. */
export interface DecisionContext {
  readonly settings: Settings;
  readonly environments: {
    find(name: string): EphemeralEnvironment | undefined;
    ofRepository(name: string): readonly EphemeralEnvironment[];
  };
  readonly repositories: Repositories;
  readonly configSets: Pick<ConfigSets, "find">;
  readonly deliveries: Pick<WebhookDeliveries, "ofPullRequest" | "ofCommit">;
  /** The records of the environments that one pull request, or the pipelines of one Repository had; see `triggerKey`. */
  readonly recordsOf: (trigger: string) => readonly EnvironmentRecord[];
  readonly branchHeads: BranchHeads;
  readonly clock: Clock;
}
