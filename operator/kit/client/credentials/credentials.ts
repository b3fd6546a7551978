import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import type { KubeConfig } from "@kubernetes/client-node";
import type { Clock } from "../../time/clock.ts";
import { KubeError } from "../errors.ts";

/** What TLS needs to know; `fingerprint` changes exactly when any of it does. */
export interface TlsMaterial {
  readonly options: Pick<RequestOptions, (typeof TLS_OPTIONS)[number]>;
  readonly fingerprint: string;
}

/** What a request needs to be accepted. The headers hold a token: never log them. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

/** The part of client-node's `KubeConfig` that is used. A caller that has its own need not load client-node's thousand modules. */
export type KubeConfigSource = Pick<KubeConfig, "getCurrentCluster" | "getCurrentUser" | "applyToHTTPSOptions">;

const TLS_OPTIONS = ["ca", "cert", "key", "pfx", "passphrase", "rejectUnauthorized", "servername"] as const;

/** The kubelet renews a token at 80 % of its life, at least minutes before its end; half a minute is early enough. */
const REREAD_AFTER_MS = 30_000;

/**
 * Credentials that follow the files they come from. Reads tokens, certificates and what exec plugins answer at most
 * every 30 s, so that calls touch no files.
 */
export function createCredentialSource(kubeConfig: KubeConfigSource, clock: Clock) {
  let known: { readonly credentials: Credentials; readonly readAtMs: number } | undefined;
  let reading: Promise<Credentials> | undefined;

  async function read(): Promise<Credentials> {
    try {
      const credentials = await readCredentials(kubeConfig);
      known = { credentials, readAtMs: clock.monotonicMs() };
      return credentials;
    } catch (cause) {
      // A file in mid-replacement costs nothing while the previous content still works; a 401 ends that through expire().
      if (known === undefined) throw new KubeError({ status: 0, reason: "NoCredentials", cause });
      known = { credentials: known.credentials, readAtMs: clock.monotonicMs() };
      return known.credentials;
    } finally {
      reading = undefined;
    }
  }

  return {
    /** @throws KubeError with reason `NoCredentials` when none could be read so far, or since the last `expire` */
    current: (): Promise<Credentials> => {
      if (known !== undefined && clock.monotonicMs() - known.readAtMs < REREAD_AFTER_MS) {
        return Promise.resolve(known.credentials);
      }
      reading ??= read();
      return reading;
    },
    /** Reads anew on the next call: the server has refused what we had. */
    expire: () => {
      known = undefined;
    },
  };
}

async function readCredentials(kubeConfig: KubeConfigSource): Promise<Credentials> {
  const options: RequestOptions = {};
  await kubeConfig.applyToHTTPSOptions(options);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value);
  if (options.auth) headers.authorization = `Basic ${Buffer.from(options.auth).toString("base64")}`;
  const token = await freshToken(kubeConfig);
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  return { headers, tls: tlsMaterial(options) };
}

/** Read here, because client-node keeps a token file's content for 60 s; on top of our own time that would be too late. */
async function freshToken(kubeConfig: KubeConfigSource): Promise<string | undefined> {
  const file: unknown = kubeConfig.getCurrentUser()?.authProvider?.config?.tokenFile;
  return typeof file === "string" ? (await readFile(file, "utf8")).trim() : undefined;
}

function tlsMaterial(options: RequestOptions): TlsMaterial {
  const hash = createHash("sha256");
  const chosen: Partial<Record<(typeof TLS_OPTIONS)[number], unknown>> = {};
  for (const name of TLS_OPTIONS) {
    const value = options[name];
    if (value === undefined || value === null) continue;
    chosen[name] = value;
    hash.update(JSON.stringify([name, value]));
  }
  return { options: chosen as TlsMaterial["options"], fingerprint: hash.digest("hex") };
}
