import { join } from "node:path";
import type { Artifact, RegistryCalls } from "./registry.ts";

/** The signer of a release. */
export type Signer =
  /**
   * The machine's identity by OpenID Connect, such as a workflow of a repository host; recorded in Sigstore's public log.
   */
  | { readonly kind: "keyless" }
  /** A private key of cosign; recorded only beside the artifact. */
  | { readonly kind: "key"; readonly file: string; readonly password: string };

/** Signs artifacts in a registry. Signatures are kept there, beside the artifacts. */
export interface Signing {
  sign(artifact: Artifact): Promise<void>;
  /** Attaches a signed statement about the artifact: the file, in the format of that type. */
  attest(artifact: Artifact, predicate: { readonly type: "cyclonedx"; readonly file: string }): Promise<void>;
}

/** Signs as that signer; always by digest, because a tag may move before the verification. */
export async function signerOf(signer: Signer, calls: RegistryCalls, work: string): Promise<Signing> {
  const { cosign, cosignOptions } = calls;
  const how = [...cosignOptions, ...(await optionsOf(signer, cosign, work))];
  const env = signer.kind === "key" ? { COSIGN_PASSWORD: signer.password } : {};
  const call = async (args: readonly string[], { name, digest }: Artifact): Promise<void> => {
    await cosign([...args, "--yes", ...how, `${name}@${digest}`], env);
  };
  return {
    sign: (artifact) => call(["sign"], artifact),
    attest: (artifact, { type, file }) => call(["attest", "--type", type, "--predicate", file], artifact),
  };
}

async function optionsOf(signer: Signer, cosign: RegistryCalls["cosign"], work: string): Promise<readonly string[]> {
  if (signer.kind === "keyless") return [];
  // No signing services.
  const services = join(work, "signing-config.json");
  await cosign(["signing-config", "create", "--out", services]);
  return ["--key", signer.file, "--signing-config", services];
}
