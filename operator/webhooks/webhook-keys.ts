import NodeCache from "node-cache";
import type { Settings } from "../../config/settings.ts";
import { SecretsUnavailable } from "../../crds/errors.ts";
import type { SecretRef } from "../../crds/overrides.schema.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import { textOf } from "../../crds/secret-text.ts";
import type { Sensitive } from "../../crds/sensitive.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { SecretReader } from "../ports/secret-manager.ts";
import type { WebhookKeys } from "../ports/webhooks/webhook-format.ts";

/** Lifetime of a cached value: webhooks must not wait for the secret manager. */
const CACHED_SECONDS = 30;
const REREAD_MS = 3_000;
/** Shorter keys can be guessed. */
export const KEY_MIN_BYTES = 32;

interface WebhookKeyDependencies {
  readonly settings: Pick<Settings, "webhooks">;
  readonly secretManager: SecretReader;
  readonly clock: Clock;
}

/** Keys of webhooks. Missing values and those under 32 bytes are left out. */
export interface WebhookKeySource {
  /** A Repository's own keys, else the global ones. @throws SecretsUnavailable */
  keysOf(repository: Repository | undefined): Promise<WebhookKeys>;
  /** The same, freshly read, at most every `REREAD_MS`. @throws SecretsUnavailable */
  keysNow(repository: Repository | undefined): Promise<WebhookKeys>;
}

/** Keys of Repositories and settings, in the secret manager. */
export function createWebhookKeys({ settings, secretManager, clock }: WebhookKeyDependencies): WebhookKeySource {
  const { webhooks } = settings;
  const values = new NodeCache({ stdTTL: CACHED_SECONDS, useClones: false });
  const rereadAtMs = new Map<string, number>();

  const read = async (ref: SecretRef) => {
    const key = await textOf(ref, secretManager).catch((cause: unknown) => {
      throw new SecretsUnavailable({ cause });
    });
    return key !== undefined && isLongKey(key) ? key : undefined;
  };
  const keyOf = (ref: SecretRef): Promise<Sensitive | undefined> => {
    const id = idOf(ref);
    const known = values.get<Promise<Sensitive | undefined>>(id);
    if (known !== undefined) return known;
    const reading = read(ref);
    values.set(id, reading);
    reading.catch(() => values.del(id));
    return reading;
  };
  const valuesOf = async (refs: readonly SecretRef[]) =>
    (await Promise.all(refs.map(keyOf))).filter((value) => value !== undefined);
  const keysOf = async (repository: Repository | undefined): Promise<WebhookKeys> => {
    const { secrets, pipelineTokens } = refsOf(repository, webhooks);
    return { secrets: await valuesOf(secrets), pipelineTokens: await valuesOf(pipelineTokens) };
  };

  return {
    keysOf,
    async keysNow(repository) {
      const { secrets, pipelineTokens } = refsOf(repository, webhooks);
      const ids = [...secrets, ...pipelineTokens].map(idOf);
      const nowMs = clock.monotonicMs();
      const due = ids.filter((id) => nowMs - (rereadAtMs.get(id) ?? Number.NEGATIVE_INFINITY) >= REREAD_MS);
      for (const id of due) rereadAtMs.set(id, nowMs);
      values.del(due);
      return keysOf(repository);
    },
  };
}

/** True when a key is long enough. */
export const isLongKey = (key: Sensitive): boolean => Buffer.byteLength(key.reveal()) >= KEY_MIN_BYTES;

const idOf = ({ name, key }: SecretRef) => `${name}@${key}`;

/** A Repository's own keys exclude the global ones. */
function refsOf(repository: Repository | undefined, { secrets, pipelineTokens }: Settings["webhooks"]) {
  const { webhookSecretRef, formerWebhookSecretRef } = repository?.spec ?? {};
  const own = [webhookSecretRef, formerWebhookSecretRef].filter((ref) => ref !== undefined);
  return own.length > 0 ? { secrets: own, pipelineTokens: own } : { secrets, pipelineTokens };
}
