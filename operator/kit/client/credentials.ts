import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import { isIPv6 } from "node:net";
import type { KubeConfig } from "@kubernetes/client-node";
import type { Clock } from "../time/clock.ts";
import { KubeError } from "./errors.ts";

/** TLS options; `fingerprint` changes exactly when one of them does. */
export interface TlsMaterial {
  readonly options: Pick<RequestOptions, (typeof TLS_OPTIONS)[number]>;
  readonly fingerprint: string;
}

/** Credentials of a request. The headers hold a token: never log them. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

/** The used part of client-node's `KubeConfig`: callers with their own need not load client-node's thousand modules. */
export type KubeConfigSource = Pick<KubeConfig, "getCurrentCluster" | "getCurrentUser" | "applyToHTTPSOptions">;

const TLS_OPTIONS = ["ca", "cert", "key", "pfx", "passphrase", "rejectUnauthorized", "servername"] as const;

/** The kubelet renews a token at 80 % of its life, minutes before its end at least; half a minute is early enough. */
const REREAD_AFTER_MS = 30_000;

/** Credentials that follow their files. Reads tokens, certificates and exec plugins' output at most every 30 s. */
export function createCredentialSource(kubeConfig: KubeConfigSource, clock: Clock) {
  let known: { readonly credentials: Credentials; readonly readAtMs: number } | undefined;
  let reading: Promise<Credentials> | undefined;

  async function read(): Promise<Credentials> {
    try {
      const credentials = await readCredentials(kubeConfig);
      known = { credentials, readAtMs: clock.monotonicMs() };
      return credentials;
    } catch (cause) {
      // A half-replaced file costs nothing while the previous content works; a 401 calls expire().
      if (known === undefined) throw new KubeError({ status: 0, reason: "NoCredentials", cause });
      known = { credentials: known.credentials, readAtMs: clock.monotonicMs() };
      return known.credentials;
    } finally {
      reading = undefined;
    }
  }

  return {
    /** @throws KubeError with reason `NoCredentials` when none could be read, at all or since the last `expire` */
    current: (): Promise<Credentials> => {
      if (known !== undefined && clock.monotonicMs() - known.readAtMs < REREAD_AFTER_MS) {
        return Promise.resolve(known.credentials);
      }
      reading ??= read();
      return reading;
    },
    /** Forces a new read on the next call, after the server's refusal. */
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

/** Read here, because client-node caches token files for 60 s; with our own cache that is too long. */
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

/** The kubelet's mount of the service account's token and the API server's CA. */
const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * API server of this process's cluster, with its pod's token; `undefined` outside a pod.
 * https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api
 *
 * @param variables of the process
 * @param folder of the service account
 */
export function inCluster(
  { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" }: NodeJS.ProcessEnv,
  folder = SERVICE_ACCOUNT,
): KubeConfigSource | undefined {
  if (host === undefined) return undefined;
  const caFile = `${folder}/ca.crt`;
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const authProvider = { name: "tokenFile", config: { tokenFile: `${folder}/token` } };
  return {
    getCurrentCluster: () => ({ name: "cluster", server, caFile, skipTLSVerify: false }),
    getCurrentUser: () => ({ name: "pod", authProvider }),
    async applyToHTTPSOptions(options: RequestOptions) {
      options.ca = await readFile(caFile);
    },
  };
}
