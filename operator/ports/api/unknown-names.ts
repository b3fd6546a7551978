/** Kinds of objects that a creation names. */
export type CreationKind = "repository" | "configSet";

/** Looks for names that this process's cache does not know: its watch may be a moment late. */
export interface UnknownNames {
  /**
   * Asks the API server once for an unknown name; afterwards the kind's own port finds what it has. Asks nothing for a
   * known one, for one that was absent within the last second, and while several look-ups are under way.
   *
   * @throws ClusterUnavailable when the API server does not answer within two seconds
   */
  lookUp(kind: CreationKind, name: string): Promise<void>;
}
