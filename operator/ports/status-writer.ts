/** Writes what only the operator writes of a kind. All methods throw the kit's KubeError on a conflict: the key is requeued. */
export interface StatusWriter<Resource, Status> {
  /** Adds our finalizer; it must be there before the first side effect. */
  addFinalizer(resource: Resource): Promise<Resource>;

  /** Removes our finalizer: a resource that is being deleted is gone then, unless it has other finalizers. */
  removeFinalizer(resource: Resource): Promise<void>;

  /** Replaces the status of exactly this version. */
  writeStatus(resource: Resource, status: Status): Promise<Resource>;
}
