import { createHash } from "node:crypto";
import { WebhookTooLarge } from "../ports/api/webhook-inbox.ts";
import type { ArrivingWebhook } from "../ports/webhooks/webhook-format.ts";
import type { HeldBody } from "./held-bodies.ts";
import { NeededFields } from "./needed-fields.ts";

type Payload = Readonly<Record<string, unknown>>;

interface Checks {
  update(bytes: Buffer): void;
}

interface Reading<C> {
  readonly most: number;
  /** Holds bytes before checks exist. */
  readonly held: HeldBody;
  /**
   * Checks for the named senders, requested when a large body has named one.
   *
   * @param payload arrived fields, unverified
   */
  readonly checksFor: (payload: Payload) => Promise<C>;
}

interface ReadBody<C> {
  /** Fields that formats read; unverified until the sender is. */
  readonly payload: Payload;
  /** SHA-256 of the raw bytes, hexadecimal. */
  readonly digest: string;
  /** Checks that got all bytes; `undefined` while they are held. */
  readonly checks: C | undefined;
}

/** True when a body names its repository. */
export const namesRepository = (payload: Payload): boolean => isObject(payload.repository) || isObject(payload.project);

export const isObject = (value: unknown): value is Payload =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Reads a body to its end in bounded memory.
 *
 * @throws WebhookMalformed, WebhookTooLarge, InboxFull when too much would be held
 */
export async function readBody<C extends Checks>(
  { chunks, headers }: Pick<ArrivingWebhook, "chunks" | "headers">,
  { most, held, checksFor }: Reading<C>,
): Promise<ReadBody<C>> {
  const digest = createHash("sha256");
  const fields = new NeededFields();
  let checks: C | undefined;
  let size = 0;
  if (Number(headers["content-length"] ?? 0) > most) throw tooLarge(most);
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > most) throw tooLarge(most);
    digest.update(chunk);
    fields.push(chunk);
    if (checks !== undefined) checks.update(chunk);
    else {
      held.add(chunk);
      checks = await begun(fields, held, checksFor);
    }
  }
  return { payload: fields.end(), digest: digest.digest("hex"), checks };
}

/** Checks of a large body that has named its repository, fed with the held bytes. */
async function begun<C extends Checks>(fields: NeededFields, held: HeldBody, checksFor: Reading<C>["checksFor"]) {
  if (!held.isLarge || !namesRepository(fields.soFar)) return undefined;
  const checks = await checksFor(fields.soFar);
  for (const piece of held.pieces()) checks.update(piece);
  held.drop();
  return checks;
}

const tooLarge = (most: number) => new WebhookTooLarge(`The body may have ${most} bytes at most`);
