import {
  InboxFull,
  WebhookKeysMissing,
  WebhookMalformed,
  WebhookRefused,
  WebhookTooLarge,
} from "../../operator/ports/api/webhook-inbox.ts";
import { HookHostUnavailable, HookRefused } from "../../operator/ports/api/webhook-registrar.ts";
import { HttpError } from "../errors.ts";

const KEYS_RETRY_SECONDS = 60;

/** Turns errors of the inbox or of the webhook registration into the contract's. @throws HttpError */
export async function answered<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw refusalOf(error) ?? error;
  }
}

function refusalOf(cause: unknown): HttpError | undefined {
  if (cause instanceof WebhookMalformed) return new HttpError("malformed", cause.message, { cause });
  if (cause instanceof WebhookTooLarge) return new HttpError("too-large", cause.message, { cause });
  // The same sentence for an unknown repository.
  if (cause instanceof WebhookRefused) {
    return new HttpError("unauthenticated", "The signature or token is missing or wrong", { cause });
  }
  if (cause instanceof WebhookKeysMissing) {
    const detail = "No key for webhooks is configured, or it has fewer than 32 bytes";
    return new HttpError("unavailable", detail, { retryAfterSeconds: KEYS_RETRY_SECONDS, cause });
  }
  if (cause instanceof HookRefused) return new HttpError("conflict", cause.message, { cause });
  if (cause instanceof InboxFull || cause instanceof HookHostUnavailable) {
    return new HttpError("unavailable", cause.message, { retryAfterSeconds: cause.retryAfterSeconds, cause });
  }
  return undefined;
}
