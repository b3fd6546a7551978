import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { exportJWK, generateKeyPair } from "jose";
import type { ProviderKeys } from "./configuration.ts";

/** The provider's keys: from the file, or new ones, which are then written to it. Without a file they are forgotten. */
export async function providerKeys(file?: string): Promise<ProviderKeys> {
  if (file && existsSync(file)) return JSON.parse(await readFile(file, "utf8"));
  const keys = await newKeys();
  if (file) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify(keys), { mode: 0o600 });
  }
  return keys;
}

async function newKeys(): Promise<ProviderKeys> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const kid = randomBytes(8).toString("hex");
  const signing = { ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid };
  return { signing: signing as ProviderKeys["signing"], cookie: randomBytes(32).toString("hex") };
}
