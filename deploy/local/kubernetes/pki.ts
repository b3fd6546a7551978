import { generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../build/run.ts";

/** A private key and its certificate, as PEM files. */
export interface KeyPair {
  readonly key: string;
  readonly certificate: string;
}

/** The names in a certificate. Kubernetes reads `commonName` as the user and `organization` as the group. */
export interface Subject {
  readonly commonName: string;
  readonly organization?: string;
  /** subjectAltName entries (`IP:127.0.0.1`, `DNS:localhost`); not needed for a client certificate. */
  readonly alternativeNames?: readonly string[];
}

/** A certificate authority in one folder, with everything that it signed. */
export interface CertificateAuthority {
  readonly certificate: string;
  /** Signs a key pair called `name`, or returns the existing one. Valid for ten years. */
  issue(name: string, subject: Subject): Promise<KeyPair>;
}

/**
 * The certificate authority of that folder (`ca.crt`, `ca.key`), made if missing.
 *
 * Uses openssl(1), version 3: Node makes keys but signs no certificates. Keys are P-256, made in a millisecond.
 */
export async function certificateAuthority(folder: string): Promise<CertificateAuthority> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const ca = { key: join(folder, "ca.key"), certificate: join(folder, "ca.crt") };
  if (!existsSync(ca.certificate)) await certify(ca, ["-subj", "/CN=ephemeral-environments local CA"]);
  return {
    certificate: ca.certificate,
    async issue(name, subject) {
      const pair = { key: join(folder, `${name}.key`), certificate: join(folder, `${name}.crt`) };
      const signer = ["-CA", ca.certificate, "-CAkey", ca.key];
      if (!existsSync(pair.certificate)) await certify(pair, [...signer, ...namesOf(subject)]);
      return pair;
    },
  };
}

/** A key pair without a certificate, for signing ServiceAccount tokens: `name`.key and `name`.pub. */
export async function signingKey(folder: string, name: string): Promise<{ privateKey: string; publicKey: string }> {
  const files = { privateKey: join(folder, `${name}.key`), publicKey: join(folder, `${name}.pub`) };
  if (existsSync(files.publicKey)) return files;
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  await writeFile(files.privateKey, privateKey.export({ type: "sec1", format: "pem" }), { mode: 0o600 });
  await writeFile(files.publicKey, publicKey.export({ type: "spki", format: "pem" }));
  return files;
}

/** Makes a key that only its owner can read, and a certificate for it: self-signed, or by the given signer. */
async function certify({ key, certificate }: KeyPair, given: readonly string[]): Promise<void> {
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout", key];
  await run("openssl", ["req", "-x509", ...newKey, "-out", certificate, "-days", "3650", ...given]);
}

function namesOf({ commonName, organization, alternativeNames = [] }: Subject): string[] {
  const extensions = ["basicConstraints=CA:FALSE", "extendedKeyUsage=serverAuth,clientAuth"];
  if (alternativeNames.length > 0) extensions.push(`subjectAltName=${alternativeNames.join(",")}`);
  const subject = `${organization ? `/O=${organization}` : ""}/CN=${commonName}`;
  return ["-subj", subject, ...extensions.flatMap((extension) => ["-addext", extension])];
}
