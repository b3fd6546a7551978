import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exportJWK, generateKeyPair } from "jose";
import { writeWhole } from "../processes/whole-file.ts";
import type { ProviderKeys } from "./configuration.ts";

const fileIn = (stateDir: string) => join(stateDir, "keys.json");

/** The provider's keys, from its folder or new and kept there. Without a folder they are lost at the end. */
export async function providerKeys(stateDir?: string): Promise<ProviderKeys> {
  if (stateDir && existsSync(fileIn(stateDir))) return readProviderKeys(stateDir);
  const keys = await newKeys();
  if (stateDir) {
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    await writeFile(fileIn(stateDir), JSON.stringify(keys), { mode: 0o600 });
  }
  return keys;
}

/** The secret of the console's client, kept like the keys. */
export async function consoleSecret(stateDir?: string): Promise<string> {
  const file = stateDir && join(stateDir, "console-secret");
  if (file && existsSync(file)) return readFile(file, "utf8");
  const secret = randomBytes(32).toString("base64url");
  if (file) await writeWhole(file, secret, 0o600);
  return secret;
}

/** The keys in a provider's folder. Fails when no provider was ever started with it. */
export async function readProviderKeys(stateDir: string): Promise<ProviderKeys> {
  return JSON.parse(await readFile(fileIn(stateDir), "utf8"));
}

async function newKeys(): Promise<ProviderKeys> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const kid = randomBytes(8).toString("hex");
  const signing = { ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid };
  return { signing: signing as ProviderKeys["signing"], cookie: randomBytes(32).toString("hex") };
}
