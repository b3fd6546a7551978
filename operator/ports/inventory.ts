import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { KubeObject } from "../kit/client/objects.ts";

/**
 * Which environments and API tokens there are, and what belongs to them: what the garbage collection decides by.
 *
 * What is `live` is a fresh and consistent read, which throws the kit's KubeError; the rest comes from this process's cache.
 */
export interface Inventory {
  /** The UIDs of all environments, and of the API tokens, whose values lie beside theirs. */
  readonly livingUids: () => Promise<{ readonly environments: readonly string[]; readonly tokens: readonly string[] }>;
  /** The UIDs of all API tokens. */
  readonly livingTokens: () => Promise<readonly string[]>;
  /** All environments: of each only the config set in its spec and its status. */
  readonly liveEnvironments: () => Promise<readonly EphemeralEnvironment[]>;
  /** Whether the watch knows an environment, or an API token, of that UID. */
  readonly isKnown: (uid: string) => boolean;
  /** The namespaces and the deployer's objects that carry our label; the rest of an environment lies in its namespace. */
  readonly belongings: () => readonly KubeObject[];
}
