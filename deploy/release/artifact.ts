/** Something in a registry, which its digest can't be moved from. */
export interface Artifact {
  /** Without tag and digest. */
  readonly name: string;
  /** `sha256:…` */
  readonly digest: string;
}
