import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Settings } from "../../config/settings.ts";
import { Sensitive } from "../../crds/sensitive.ts";
import { jsonAuditTrail } from "../adapters/audit-log/json-audit-trail.ts";
import { googleIdentityProvider } from "../adapters/google/identity-provider.ts";
import { localIdentityProvider, retryingIdentityProvider } from "../adapters/identity-provider/call.ts";
import { redisSharedCounters } from "../adapters/redis/shared-counters.ts";
import { contentOf } from "../kit/content-of.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { IdentityProvider } from "../ports/api/identity-provider.ts";
import type { SharedCounters } from "../ports/api/shared-counters.ts";
import type { AuditTrail } from "../ports/audit-trail.ts";

/** Unique name of this process, different even for the pod's next one. */
export function processIdentity(): string {
  return `${hostname()}-${randomBytes(4).toString("hex")}`;
}

/** Counters of the settings, if any. Files are read once. */
export function createSharedCounters(
  { api }: Settings,
  parts: { readonly clock: Clock; readonly log: Log },
): (SharedCounters & { close(): void }) | undefined {
  const { redis } = api.limits;
  if (redis === undefined) return undefined;
  const { url, username, passwordFile, caFile } = redis;
  return redisSharedCounters(
    { url, username, password: contentOf(passwordFile)?.trim(), ca: contentOf(caFile) },
    parts,
  );
}

const BYTES_OF_A_MEGABYTE = 1_000_000;

/** Audit trail of the settings: standard output, and a file if named. */
export function createAuditTrail(
  { audit }: Settings,
  parts: { readonly clock: Clock; readonly log: Log },
): AuditTrail & { close(): Promise<void> } {
  const file = audit.file && {
    path: audit.file.path,
    maxBytes: audit.file.maxMegabytes * BYTES_OF_A_MEGABYTE,
    keep: audit.file.keep,
  };
  return jsonAuditTrail({ stream: process.stdout, file, ...parts });
}

type Choice = NonNullable<Settings["api"]["identityProvider"]>;

/** Only what a header can carry: a client that refuses a header repeats it in its error. */
const KEY_SHAPE = /^[\w-]{1,256}$/;

/** Identity provider of the settings, if any; fails when its key file is unreadable or empty. */
export function identityProviderOf({ api }: Settings, clock: Clock): IdentityProvider | undefined {
  return api.identityProvider && retryingIdentityProvider(chosen(api.identityProvider), clock);
}

function chosen(choice: Choice): IdentityProvider {
  if (choice.kind === "local") return localIdentityProvider(choice.url);
  const { kind: _, apiKeyFile, ...project } = choice;
  return googleIdentityProvider({ ...project, apiKey: keyOf(apiKeyFile) });
}

function keyOf(file: string): Sensitive {
  const key = readFileSync(file, "utf8").trim();
  if (KEY_SHAPE.test(key)) return new Sensitive(key);
  throw new Error("api.identityProvider.apiKeyFile holds no API key: letters, digits, - and _ on one line");
}
