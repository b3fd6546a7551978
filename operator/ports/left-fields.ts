import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";

/**
 * True when the environment's GitOps tool leaves a platform change of a spec field alone, although the manifest has it.
 * False when uncertain.
 *
 * @param field path below the spec, such as `ttlHours` or `backend/branch`
 */
export type LeftFields = (environment: EphemeralEnvironment, field: string) => Promise<boolean>;
