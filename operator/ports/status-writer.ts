/**
 * Writes the operator-owned fields of a kind. All methods throw the kit's KubeError on a conflict: the key is requeued.
 */
export interface StatusWriter<Resource, Status> {
  /** Adds our finalizer; call before the first side effect. */
  addFinalizer(resource: Resource): Promise<Resource>;

  /** Removes our finalizer: a terminating resource is then gone, unless it has others. */
  removeFinalizer(resource: Resource): Promise<void>;

  /** Replaces the status of exactly this version. */
  writeStatus(resource: Resource, status: Status): Promise<Resource>;
}
