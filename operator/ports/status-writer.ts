/** What the operator alone writes of a kind. All throw the kit's KubeError on a conflict: the pass is taken again. */
export interface StatusWriter<Resource, Status> {
  /** Adds our finalizer; must be held before the first side effect. */
  addFinalizer(resource: Resource): Promise<Resource>;

  /** Removes our finalizer: a resource that is being deleted goes. */
  removeFinalizer(resource: Resource): Promise<void>;

  /** Replaces the status of exactly this version. */
  writeStatus(resource: Resource, status: Status): Promise<Resource>;
}
