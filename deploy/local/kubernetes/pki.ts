import { generateKeyPairSync, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../processes/run.ts";

/** A private key and its certificate, as PEM files. */
export interface KeyPair {
  readonly key: string;
  readonly certificate: string;
}

/** Whom a certificate names. Kubernetes reads `commonName` as the user and `organization` as the group. */
export interface Subject {
  readonly commonName: string;
  readonly organization?: string;
  /** subjectAltName entries (`IP:127.0.0.1`, `DNS:localhost`); a client certificate needs none. */
  readonly alternativeNames?: readonly string[];
}

/** A certificate authority that lives in one folder; everything it signed is in that folder too. */
export interface CertificateAuthority {
  readonly certificate: string;
  /** Signs a key pair called `name`, or returns the one that it signed before. Valid for ten years. */
  issue(name: string, subject: Subject): Promise<KeyPair>;
}

const validity = ["-days", "3650"];

/**
 * The certificate authority of that folder, made when it is not there yet (`ca.crt`, `ca.key`).
 *
 * It uses openssl(1): Node makes keys but signs no certificates. Keys are P-256, made in a millisecond.
 */
export async function certificateAuthority(folder: string): Promise<CertificateAuthority> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const ca = { key: join(folder, "ca.key"), certificate: join(folder, "ca.crt") };
  if (!existsSync(ca.certificate)) {
    await writeKey(ca.key);
    const request = ["req", "-x509", "-new", "-key", ca.key, "-out", ca.certificate, ...validity];
    await run("openssl", [...request, "-subj", "/CN=ephemeral-environments local CA"]);
  }
  return {
    certificate: ca.certificate,
    async issue(name, subject) {
      const pair = { key: join(folder, `${name}.key`), certificate: join(folder, `${name}.crt`) };
      if (!existsSync(pair.certificate)) await sign(ca, pair, subject);
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

async function sign(ca: KeyPair, pair: KeyPair, subject: Subject): Promise<void> {
  await writeKey(pair.key);
  const request = `${pair.certificate}.csr`;
  await run("openssl", ["req", "-new", "-key", pair.key, "-out", request, "-subj", subjectLine(subject)]);
  const extensions = `${pair.certificate}.ext`;
  await writeFile(extensions, extensionLines(subject));
  const serial = ["-set_serial", `0x${randomUUID().replaceAll("-", "")}`];
  const signer = ["-CA", ca.certificate, "-CAkey", ca.key, ...serial, ...validity];
  await run("openssl", ["x509", "-req", "-in", request, "-out", pair.certificate, "-extfile", extensions, ...signer]);
  await Promise.all([rm(request), rm(extensions)]);
}

async function writeKey(file: string): Promise<void> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  await writeFile(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
}

function subjectLine({ commonName, organization }: Subject): string {
  return `${organization ? `/O=${organization}` : ""}/CN=${commonName}`;
}

function extensionLines({ alternativeNames = [] }: Subject): string {
  const usage = "extendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=CA:FALSE\n";
  return alternativeNames.length > 0 ? `${usage}subjectAltName=${alternativeNames.join(",")}\n` : usage;
}
