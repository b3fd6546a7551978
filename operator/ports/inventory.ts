import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { KubeObject } from "../kit/client/objects.ts";

/**
 * Existing environments, API tokens and their objects: the input of garbage collection.
 *
 * `live` reads are fresh and consistent, and throw the kit's KubeError; the rest comes from this process's cache.
 */
export interface Inventory {
  /** UIDs of all environments and API tokens, whose values lie beside theirs. */
  readonly livingUids: () => Promise<{ readonly environments: readonly string[]; readonly tokens: readonly string[] }>;
  readonly livingTokens: () => Promise<readonly string[]>;
  /** All environments, reduced to spec.configSet and status. */
  readonly liveEnvironments: () => Promise<readonly EphemeralEnvironment[]>;
  /** True when the watch knows an environment or API token of that UID. */
  readonly isKnown: (uid: string) => boolean;
  /** Namespaces and deployer objects with our label; the rest of an environment lies in its namespace. */
  readonly belongings: () => readonly KubeObject[];
}
