import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Credential } from "./credential.ts";
import { withFileLock } from "./file-lock.ts";
import { type Keychain, keychainOf } from "./keychain.ts";

interface Remembered {
  readonly current?: string;
  readonly platforms: Readonly<Record<string, { readonly credential?: Credential }>>;
}

/** Credentials by the URL of their platform: in the keychain, or in a file that only its owner reads. */
export interface CredentialStore {
  /** Platform of the last log-in. */
  current(): string | undefined;
  read(url: string): Promise<Credential | undefined>;
  /** @returns its place, for people */
  write(url: string, credential: Credential): Promise<string>;
  /** @returns false when there was none */
  remove(url: string): Promise<boolean>;
  /** Does the work while no other process changes credentials. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** @param say gets the credentials' place without a keychain */
export function credentialStore(env: NodeJS.ProcessEnv, say: (line: string) => void): CredentialStore {
  const file = join(configFolder(env), "credentials.json");
  const keychain = keychainOf(env);

  return {
    current: () => remembered(file).current,
    async read(url) {
      const entry = remembered(file).platforms[url];
      if (entry === undefined) return undefined;
      if (entry.credential !== undefined) return entry.credential;
      const secret = await keychain?.read(url);
      return secret === undefined ? undefined : (JSON.parse(secret) as Credential);
    },
    async write(url, credential) {
      const kept = await keepInKeychain(keychain, url, credential);
      const { platforms } = remembered(file);
      const entry = kept === true ? {} : { credential };
      const isNew = platforms[url]?.credential === undefined;
      remember(file, { current: url, platforms: { ...platforms, [url]: entry } });
      if (kept === true) return keychain?.name ?? "";
      // Reported once, because users may expect a keychain.
      if (isNew) say(`${kept}: the credentials are in ${file}, which only you can read.`);
      return file;
    },
    async remove(url) {
      const { current, platforms } = remembered(file);
      const { [url]: entry, ...others } = platforms;
      if (entry === undefined) return false;
      if (entry.credential === undefined) await keychain?.remove(url);
      remember(file, { ...(current !== undefined && current !== url && { current }), platforms: others });
      return true;
    },
    alone: (work) => withFileLock(`${file}.lock`, work),
  };
}

/** True when the keychain stored it; else the reason. */
async function keepInKeychain(keychain: Keychain | undefined, url: string, credential: Credential) {
  if (keychain === undefined) return "There is no keychain here";
  try {
    await keychain.write(url, JSON.stringify(credential));
    return true;
  } catch (error) {
    return `${keychain.name} can't be used (${(error as Error).message})`;
  }
}

function remembered(file: string): Remembered {
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (isRemembered(content)) return content;
    throw new Error("it is not as eenv wrote it");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { platforms: {} };
    throw new Error(`${file} can't be read: ${(error as Error).message}`);
  }
}

function isRemembered(content: unknown): content is Remembered {
  const platforms = (content as Partial<Remembered> | null)?.platforms;
  return typeof platforms === "object" && platforms !== null;
}

/** The file appears complete or not at all. */
function remember(file: string, content: Remembered): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  chmodSync(unfinished, 0o600);
  renameSync(unfinished, file);
}

/** Folder of the command line's files: https://specifications.freedesktop.org/basedir-spec/latest/. */
function configFolder(env: NodeJS.ProcessEnv): string {
  if (env.EENV_CONFIG_DIR) return env.EENV_CONFIG_DIR;
  if (process.platform === "win32" && env.APPDATA) return join(env.APPDATA, "eenv");
  return join(env.XDG_CONFIG_HOME || join(homedir(), ".config"), "eenv");
}
