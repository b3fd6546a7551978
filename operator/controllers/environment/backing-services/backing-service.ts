import type { Settings } from "../../../../config/settings.ts";
import type { StepCondition } from "../../../../crds/conditions.ts";
import type { ConfigSetSpec } from "../../../../crds/config-set.ts";
import type { RecordSpec } from "../../../../crds/environment/environment-record.ts";
import type {
  EnvironmentSpec,
  EnvironmentStatus,
  EphemeralEnvironment,
} from "../../../../crds/environment/ephemeral-environment.ts";
import type { GeneratedSecret, Repository } from "../../../../crds/repository/repository.ts";
import type { Sensitive } from "../../../../crds/sensitive.ts";
import type { PodProblemReason } from "../../../ports/pods.ts";
import type { RepositoryFile } from "../../../ports/repository-host.ts";
import type { ComponentRepositories } from "../repositories.ts";
import type { Findings, Unfinished } from "../step-result.ts";

/** A secret variable computed from another one and stored nowhere else. */
export interface DerivedVariable {
  readonly name: string;
  readonly of: string;
  readonly value: (of: Sensitive) => Sensitive;
}

/** Basis of a service's values. */
export interface ServiceInput {
  readonly environment: EphemeralEnvironment;
  readonly repositories: ComponentRepositories;
  /** Version of the config set, if any. */
  readonly configSet: ConfigSetSpec | undefined;
  /** The environment that its database is to be copied from; absent without a copy, or where there is no such one. */
  readonly copySource?: ObservedCopySource;
}

/** A copy's source as it is now. */
export interface ObservedCopySource {
  readonly environment: EphemeralEnvironment;
  /** Statements of its config set: those of its version, and those of now. */
  readonly masks: readonly string[];
  /** False while its config set is not known. */
  readonly isConfigured: boolean;
}

/** A file that a load takes from a git repository. */
export interface LoadFile extends RepositoryFile {
  /** Id of the load. */
  readonly load: string;
  /** Secret that the Job reads it from: another one for another load. */
  readonly secret: string;
  readonly repository: Repository;
}

/** A load of first data that is not known to be over. */
export interface PendingLoad {
  /** Name of the Job that loads it; absent: none is needed. */
  readonly job?: string;
  /** Reason of the service's condition meanwhile. */
  readonly reason: string;
  /** Sentence about it, for users. */
  readonly message: string;
  /** File that has to be in the namespace for it. */
  readonly file?: LoadFile;
  /** Result while it can't begin; absent where it can. */
  readonly obstacle?: Unfinished;
}

/** The data that a service is made with, or made anew with: by a Job of the chart, before anything else starts. */
export interface FirstData {
  /** Status field with what it was made with. */
  readonly writes: keyof EnvironmentStatus;
  /** The load in progress; `undefined` while the service is as wished. */
  readonly pending: (input: ServiceInput, settings: Settings) => PendingLoad | undefined;
  /** Result where the environment's chart can't load it; `undefined` where it can, or need not. */
  readonly problem: (input: ServiceInput, settings: Settings) => Unfinished | undefined;
  /** Finding once the service was made, with or without data. */
  readonly made: (input: ServiceInput, settings: Settings) => Findings;
  /** Finding once the service is requested no longer. */
  readonly removed: (environment: EphemeralEnvironment) => Findings;
}

/**
 * A service that the environment's components use, such as a database: created, updated and deleted with the
 * application, as a part of its chart.
 */
export interface BackingService {
  /** Key of its chart values, and component label of its pods. */
  readonly name: string;
  readonly condition: StepCondition;
  /** True when the environment has it: by its spec, else by its config set. */
  readonly isDesired: (spec: EnvironmentSpec, configSet: ConfigSetSpec | undefined) => boolean;
  readonly values: (input: ServiceInput, settings: Settings) => Readonly<Record<string, unknown>>;
  /** Secrets generated for it, whatever the Repositories list. */
  readonly secrets: readonly GeneratedSecret[];
  /** Further login variables of the components; users' values win. */
  readonly derived: readonly DerivedVariable[];
  /** Remedies for users, where they differ from those of a component. */
  readonly remedies: (environment: EphemeralEnvironment) => { readonly [reason in PodProblemReason]?: string };
  /** Reasons of its condition, where they differ from those of a component. */
  readonly reasons?: (environment: EphemeralEnvironment) => { readonly [reason in PodProblemReason]?: string };
  /** Absent: it always begins empty. */
  readonly firstData?: FirstData;
  readonly recorded: (environment: EphemeralEnvironment) => Partial<RecordSpec>;
}
