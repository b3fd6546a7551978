import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { Switches } from "../../crds/environment/manifest.schema.ts";

/**
 * Whether the GitOps tool that keeps the environment leaves a field of its spec alone when the platform has changed it,
 * although the manifest has it. In doubt it does not.
 */
export type LeftFields = (environment: EphemeralEnvironment, field: keyof Switches) => Promise<boolean>;
