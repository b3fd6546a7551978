/** One rule of a role, and what would not work without it. */
export interface Right {
  /** The API group; the empty string is the core group. */
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
  /** Where its rights hold. */
  readonly where: "cluster" | "environments" | "release" | "default" | "secrets" | "deployer";
  readonly rights: readonly Right[];
}
