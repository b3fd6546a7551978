import type { EnvironmentStatus, EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";

/** A status that could not be stored, and the version of the environment that it was made of. */
interface Draft {
  readonly resourceVersion: string;
  readonly status: EnvironmentStatus;
}

/**
 * What passes found out and could not store. The next pass over the very same version goes on from it: some of what
 * steps make shows in nothing but the status, and would be made once more in every pass until that is stored.
 *
 * Kept in memory only. A crash costs these writes once.
 */
export class StatusDrafts {
  readonly #drafts = new Map<string, Draft>();

  /** The environment as the last pass left it, whether that is stored or not. */
  continued(environment: EphemeralEnvironment): EphemeralEnvironment {
    const { name, resourceVersion } = environment.metadata;
    const draft = this.#drafts.get(name);
    return draft?.resourceVersion === resourceVersion ? { ...environment, status: draft.status } : environment;
  }

  /** Keeps the status until `write` has stored it. */
  async store(
    { metadata }: EphemeralEnvironment,
    status: EnvironmentStatus,
    write: () => Promise<unknown>,
  ): Promise<void> {
    this.#drafts.set(metadata.name, { resourceVersion: metadata.resourceVersion, status });
    await write();
    this.#drafts.delete(metadata.name);
  }

  /** To be called when the environment goes. */
  forget(name: string): void {
    this.#drafts.delete(name);
  }
}
