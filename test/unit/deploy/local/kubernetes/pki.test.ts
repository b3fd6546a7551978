import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type CertificateAuthority, certificateAuthority } from "../../../../../deploy/local/kubernetes/pki.ts";

describe("the local certificate authority", () => {
  let folder: string;
  let ca: CertificateAuthority;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pki-"));
    ca = await certificateAuthority(folder);
  });

  afterAll(() => rm(folder, { recursive: true }));

  const read = async (file: string) => new X509Certificate(await readFile(file));

  test("signs certificates of a server, a user and a group with its own key", async () => {
    const alternativeNames = ["IP:127.0.0.1", "DNS:*.env.localhost"];
    const pair = await ca.issue("node", {
      commonName: "system:node:a",
      organization: "system:nodes",
      alternativeNames,
    });
    const certificate = await read(pair.certificate);
    expect(certificate.verify((await read(ca.certificate)).publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(await readFile(pair.key)))).toBe(true);
    expect(certificate.subject).toBe("O=system:nodes\nCN=system:node:a");
    expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
    expect(certificate.checkHost("shop.env.localhost")).toBe("*.env.localhost");
    expect(certificate.ca).toBe(false);
  });

  test("stays the same authority, and does not sign twice", async () => {
    const first = await ca.issue("admin", { commonName: "admin" });
    const before = await readFile(first.certificate);
    const again = await (await certificateAuthority(folder)).issue("admin", { commonName: "admin" });
    expect((await readFile(again.certificate)).equals(before)).toBe(true);
  });

  test("keeps keys readable by their owner only", async () => {
    const { key } = await ca.issue("private", { commonName: "private" });
    expect((await stat(key)).mode & 0o077).toBe(0);
  });

  test("gives every certificate a serial number of its own", async () => {
    const pairs = await Promise.all(["x", "y"].map((name) => ca.issue(name, { commonName: name })));
    const [x, y] = await Promise.all(pairs.map(({ certificate }) => read(certificate)));
    expect(x?.serialNumber).not.toBe(y?.serialNumber);
  });
});
