/** One rule of a role, with its purpose. */
export interface Right {
  /** API group; the empty string is the core group. */
  readonly group: string;
  readonly resources: readonly string[];
  /** Absent: objects of any name. */
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
  readonly why: string;
}

/** A role of the platform's ServiceAccount. */
export interface PlatformRole {
  readonly kind: "ClusterRole" | "Role";
  readonly name: string;
  /** Scope of its rights. */
  readonly where: "cluster" | "environments" | "release" | "default" | "secrets" | "deployer";
  readonly rights: readonly Right[];
}
