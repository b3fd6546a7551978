import type { Settings } from "../../../../config/settings.ts";
import type { StepCondition } from "../../../../crds/conditions.ts";
import type { ConfigSetSpec } from "../../../../crds/config-set.ts";
import type { RecordSpec } from "../../../../crds/environment/environment-record.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { WantedSecret } from "../../../../crds/repository/repository.ts";
import type { Sensitive } from "../../../../crds/sensitive.ts";
import type { PodProblemReason } from "../../../ports/pods.ts";

/** A secret variable whose value is computed from another one and stored nowhere else. */
export interface DerivedVariable {
  readonly name: string;
  /** The variable that it is computed from. */
  readonly of: string;
  readonly value: (of: Sensitive) => Sensitive;
}

/**
 * A service of the environment's own that its components use, such as a database. It is a part of the environment's
 * chart, so it is created, updated and deleted with the application.
 */
export interface BackingService {
  /** The key of its chart values, and the component label of its pods. */
  readonly name: string;
  /** The condition that shows its state. */
  readonly condition: StepCondition;
  /** Whether the environment has it: as its spec says, else as its config set does. */
  readonly isWanted: (spec: EnvironmentSpec, configSet: ConfigSetSpec | undefined) => boolean;
  /** Its chart values. */
  readonly values: (configSet: ConfigSetSpec | undefined, settings: Settings) => Readonly<Record<string, unknown>>;
  /** The secrets that are generated for it, whatever the Repositories list. */
  readonly secrets: readonly WantedSecret[];
  /** What else the components need to log in; a value that users set for such a variable wins. */
  readonly derived: readonly DerivedVariable[];
  /** What users can do about a problem of its pods, where that differs from what helps a component. */
  readonly remedies: { readonly [reason in PodProblemReason]?: string };
  /** What the record of a deleted environment says of it. */
  readonly recorded: (environment: EphemeralEnvironment) => Partial<RecordSpec>;
}

/** The backing services that the environment has. */
export function wantedServices(input: {
  readonly environment: EphemeralEnvironment;
  readonly configSet: ConfigSetSpec | undefined;
  readonly services: readonly BackingService[];
}): readonly BackingService[] {
  return input.services.filter(({ isWanted }) => isWanted(input.environment.spec, input.configSet));
}
