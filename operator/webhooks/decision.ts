import type { Settings } from "../../config/settings.ts";
import { clipped } from "../../crds/conditions.ts";
import { desiredCommit } from "../../crds/environment/component-build.ts";
import { type EnvironmentRecord, pipelineKey, triggerKey } from "../../crds/environment/environment-record.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { isProtected } from "../../crds/environment/lifetime.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import { OUTCOME_MESSAGE_MAX_LENGTH, VERDICT_MESSAGE_MAX_LENGTH } from "../../crds/webhooks/webhook-delivery.schema.ts";
import type { RuleVerdict, WebhookDeliveryStatus } from "../../crds/webhooks/webhook-delivery.ts";
import type { WebhookEvent } from "../../crds/webhooks/webhook-event.schema.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { ConfigSetFinder } from "../ports/config-sets.ts";
import type { Repositories } from "../ports/repositories.ts";
import type { BranchHeads } from "../ports/repository-host.ts";
import type { CommitReport, HostedRepository } from "../ports/webhooks/pull-request-host.ts";
import type { WebhookDeliveries } from "../ports/webhooks/webhook-deliveries.ts";
import type { WebhookFormats } from "./senders.ts";

/** Single action about an event, decided from the current state. */
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
      /** Merged into the spec, on the version read. */
      readonly spec: Partial<EnvironmentSpec>;
      /** Merged into the annotations by the same write; null removes one. */
      readonly annotations?: Readonly<Record<string, string | null>>;
      readonly reason: string;
    }
  | {
      readonly do: "delete";
      readonly environment: EphemeralEnvironment;
      /** Missing annotations, written before the deletion for the record. */
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
  /** A status of a commit without an environment: by the operator, because a host may be slow. */
  | {
      readonly do: "report";
      readonly repository: HostedRepository;
      readonly report: CommitReport;
      readonly reason: string;
    }
  | {
      readonly do: "nothing";
      readonly environment?: EphemeralEnvironment | undefined;
      readonly reason: string;
      /** Names no environments: readers may lack the right to see them. */
      readonly message: string;
    };

/** A decision, and its rules in the order of evaluation. */
export interface Decided {
  readonly decision: Decision;
  readonly trace: readonly RuleVerdict[];
}

/** Decides to do nothing. */
export function nothing(reason: string, message: string, trace: readonly RuleVerdict[] = []): Decided {
  return { decision: { do: "nothing", reason, message: clipped(message, OUTCOME_MESSAGE_MAX_LENGTH) }, trace };
}

/** Decides to leave an environment as it is. */
export function left(
  environment: EphemeralEnvironment,
  reason: string,
  message: string,
  trace: readonly RuleVerdict[] = [],
): Decided {
  return { decision: { do: "nothing", environment, reason, message }, trace };
}

/** Decides to delete an environment, after annotating it; a protected one stays. */
export function deletion(
  environment: EphemeralEnvironment,
  reason: string,
  trace: readonly RuleVerdict[],
  annotations: Readonly<Record<string, string>> = {},
): Decided {
  if (!isProtected(environment)) return { decision: { do: "delete", environment, annotations, reason }, trace };
  return left(environment, "Protected", "it is protected: take the protection back, or delete it later", trace);
}

/** Decides about a name that is taken, or about to be free. */
export function nameTaken(environment: EphemeralEnvironment, trace: readonly RuleVerdict[]): Decided {
  if (environment.metadata.deletionTimestamp === undefined) {
    const message = "an environment of another origin has the name: delete it, or keep it";
    return left(environment, "NameTaken", message, trace);
  }
  const message = "the former environment of the name is being deleted";
  return { decision: { do: "wait", environment, reason: "NameTerminating", message }, trace };
}

/** A delivery's outcome. */
export function deliveryStatus(
  phase: WebhookDeliveryStatus["phase"],
  reason: string,
  message: string,
  more: Partial<WebhookDeliveryStatus> = {},
): WebhookDeliveryStatus {
  return { phase, reason, message: clipped(message, OUTCOME_MESSAGE_MAX_LENGTH), ...more };
}

/** Verdict of one rule: a problem fails it. */
export function verdict(repository: Repository, rule: string, problem: string | undefined): RuleVerdict {
  const message = problem === undefined ? {} : { message: clipped(problem, VERDICT_MESSAGE_MAX_LENGTH) };
  return { repository: repository.metadata.name, rule, passed: problem === undefined, ...message };
}

/** Input of a decision: one event, as one Repository sees it. */
export interface RepositoryEvent {
  readonly event: WebhookEvent;
  readonly repository: Repository;
  /** Host's id in the settings; empty for the contract's own format. */
  readonly host: string;
  /** Name of the stored delivery; none in a simulation. */
  readonly delivery: string | undefined;
}

/** Dependencies of decisions. */
export interface DecisionContext {
  readonly settings: Settings;
  readonly formats: WebhookFormats;
  readonly environments: {
    find(name: string): EphemeralEnvironment | undefined;
    ofRepository(name: string): readonly EphemeralEnvironment[];
  };
  readonly repositories: Repositories;
  readonly configSets: ConfigSetFinder;
  readonly deliveries: Pick<WebhookDeliveries, "ofPullRequest" | "ofCommit">;
  /** Records of a pull request's or a Repository's pipelines' environments; see `triggerKey`. */
  readonly recordsOf: (trigger: string) => readonly EnvironmentRecord[];
  readonly branchHeads: BranchHeads;
  readonly clock: Clock;
}

/** Environment that a push or a pipeline of a Repository may concern. */
export interface RepositoryUse {
  readonly environment: EphemeralEnvironment;
  readonly source: EnvironmentSpec["backend"];
  /** Desired commit of the component; `undefined` while its branch's head is unknown. */
  readonly desiredCommit: string | undefined;
  /** True when it follows pushes to its branch. */
  readonly follows: boolean;
  /** True when a pipeline of the Repository made it. */
  readonly isMadeByPipeline: boolean;
}

/** Environments of the Repository, without terminating ones. */
export function usesOf(
  { repository, host }: Pick<RepositoryEvent, "repository" | "host">,
  { environments }: DecisionContext,
): readonly RepositoryUse[] {
  const { name } = repository.metadata;
  const component = repository.spec.type;
  return environments.ofRepository(name).flatMap((environment) => {
    const { metadata, spec } = environment;
    const source = spec[component];
    if (source?.repository !== name || metadata.deletionTimestamp !== undefined) return [];
    const isMadeByPipeline = triggerKey(spec.trigger) === pipelineKey(host, name);
    const follows = source.follow === true && !source.commit;
    return [{ environment, source, desiredCommit: desiredCommit(environment, component), follows, isMadeByPipeline }];
  });
}
