/** An artifact in a registry, fixed by its digest. */
export interface Artifact {
  readonly name: string;
  /** `sha256:…` */
  readonly digest: string;
}
