import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";

/**
 * Whether the GitOps tool that keeps the environment leaves a field of its spec alone when the platform has changed it,
 * although the manifest has it. In doubt it does not.
 *
 * @param field its path below the spec, such as `ttlHours` or `backend/branch`
 */
export type LeftFields = (environment: EphemeralEnvironment, field: string) => Promise<boolean>;
