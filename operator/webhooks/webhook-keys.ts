import NodeCache from "node-cache";
import type { Settings } from "../../config/settings.ts";
import type { SecretRef } from "../../crds/environment/overrides.schema.ts";
import { SecretsUnavailable } from "../../crds/errors.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { Sensitive } from "../../crds/sensitive.ts";
import type { Clock } from "../kit/time/clock.ts";
import { type SecretManager, textOf } from "../ports/secret-manager.ts";
import type { WebhookKeys } from "../ports/webhooks/webhook-format.ts";

/** A webhook must not wait for the secret manager, so a value is read once in so many seconds. */
const CACHED_SECONDS = 30;
/** How often a signature that does not fit may ask for what the secret manager has now. */
const REREAD_MS = 3_000;
/** A shorter key can be guessed. */
export const KEY_MIN_BYTES = 32;

interface Context {
  readonly settings: Pick<Settings, "webhooks">;
  readonly secretManager: Pick<SecretManager, "read">;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** The keys of webhooks. Values under 32 bytes, and those that the secret manager lacks, are left out. */
export interface WebhookKeySource {
  /** A Repository's own keys, else the global ones; the global ones without a Repository. @throws SecretsUnavailable */
  keysOf(repository: Repository | undefined): Promise<WebhookKeys>;

  /** The same, read anew unless that was done a moment ago. @throws SecretsUnavailable */
  keysNow(repository: Repository | undefined): Promise<WebhookKeys>;
}

/** The keys that Repositories and settings name, in the secret manager. */
export function createWebhookKeys({ settings: { webhooks }, secretManager, clock }: Context): WebhookKeySource {
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

/** Whether a key has as many bytes as are needed. */
export const isLongKey = (key: Sensitive): boolean => Buffer.byteLength(key.reveal()) >= KEY_MIN_BYTES;

const idOf = ({ name, key }: SecretRef) => `${name}@${key}`;

/** A Repository with keys of its own is verified by no other. */
function refsOf(repository: Repository | undefined, { secrets, pipelineTokens }: Settings["webhooks"]) {
  const { webhookSecretRef, formerWebhookSecretRef } = repository?.spec ?? {};
  const own = [webhookSecretRef, formerWebhookSecretRef].filter((ref) => ref !== undefined);
  return own.length > 0 ? { secrets: own, pipelineTokens: own } : { secrets, pipelineTokens };
}
