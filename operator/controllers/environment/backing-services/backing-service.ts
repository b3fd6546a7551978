import type { Settings } from "../../../../config/settings.ts";
import type { StepCondition } from "../../../../crds/conditions.ts";
import type { ConfigSetSpec } from "../../../../crds/config-set.ts";
import type { RecordSpec } from "../../../../crds/environment/environment-record.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { GeneratedSecret } from "../../../../crds/repository/repository.ts";
import type { Sensitive } from "../../../../crds/sensitive.ts";
import type { PodProblemReason } from "../../../ports/pods.ts";

/** A secret variable computed from another one and stored nowhere else. */
export interface DerivedVariable {
  readonly name: string;
  readonly of: string;
  readonly value: (of: Sensitive) => Sensitive;
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
  readonly values: (configSet: ConfigSetSpec | undefined, settings: Settings) => Readonly<Record<string, unknown>>;
  /** Secrets generated for it, whatever the Repositories list. */
  readonly secrets: readonly GeneratedSecret[];
  /** Further login variables of the components; users' values win. */
  readonly derived: readonly DerivedVariable[];
  /** Remedies for users, where they differ from those of a component. */
  readonly remedies: { readonly [reason in PodProblemReason]?: string };
  readonly recorded: (environment: EphemeralEnvironment) => Partial<RecordSpec>;
}
