import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { Kind } from "../../crds/group.ts";
import type { KubeObject } from "../kit/client/objects.ts";
import type { Owner } from "./cluster.ts";

/** Any object in an environment's namespace. */
export interface Content {
  readonly kind: Kind;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly finalizers: readonly string[];
  /** True when its deletion was requested. */
  readonly isDeleted: boolean;
}

/** A PersistentVolume that outlives its claim by the reclaim policy `Retain`. */
export interface RetainedVolume {
  readonly name: string;
  readonly uid: string;
  /** True when it was made for its claim; an older one may hold other data. */
  readonly isMadeForClaim: boolean;
}

/**
 * Contents of a terminating environment's namespace: of every served kind, not only the platform's objects. Needs the
 * platform's rights in that namespace. Methods throw the kit's KubeError.
 */
export interface NamespaceContents {
  /** All metadata except Events; empty when the namespace is gone. Incomplete while a kind's API is overloaded, away or faulty. */
  list(environment: Owner): Promise<{ readonly contents: readonly Content[]; readonly isComplete: boolean }>;
  /**
   * Ends every pod that still runs this long after its deletion, despite its grace period; deletes undeleted ones.
   *
   * @param graceSeconds at least 1: a pod is never removed from the API before its node has stopped it
   * @returns the number of remaining pods
   */
  endPods(environment: Owner, graceSeconds: number): Promise<number>;
  /**
   * Removes only these finalizers from an object; none from a recreated one of the same name.
   *
   * @returns the refusal's sentence, such as an admission webhook's; `undefined` without one
   */
  release(environment: Owner, content: Content, finalizers: readonly string[]): Promise<string | undefined>;
  /**
   * Marks the owner's terminating namespace, once: a change has Kubernetes' namespace controller check it within
   * seconds. It deletes other kinds only after the pods, and checks again only after half of the longest grace period in
   * their specs, even if they ended earlier, or at its resync every five minutes.
   * https://github.com/kubernetes/kubernetes/blob/v1.36.1/pkg/controller/namespace/namespace_controller.go
   */
  announcePodsEnded(environment: Owner): Promise<void>;
  /** Retained volumes of the namespace's claims, by name; none without the platform's rights, or when it is gone. */
  retainedVolumes(environment: Owner): Promise<readonly RetainedVolume[]>;
  /** Lets a volume go with its claim. Fine when it is gone; throws for a recreated one of the same name. */
  endWithClaim(volume: RetainedVolume): Promise<void>;
}

/**
 * Existing environments, API tokens and their objects: the input of garbage collection. `live` reads are fresh and
 * consistent, and throw the kit's KubeError; the rest comes from this process's cache.
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
