/** An artifact in a registry, fixed by its digest. */
export interface Artifact {
  /** Without tag and digest. */
  readonly name: string;
  /** `sha256:…` */
  readonly digest: string;
}
