import { isJsonObject } from "../../../crds/json.ts";
import { DELIVERY_ID_MAX_LENGTH } from "../../../crds/webhooks/webhook-delivery.schema.ts";
import type { ReceivedWebhook } from "../../ports/webhooks/webhook-format.ts";

/** Readers for parsed payloads, which may be any JSON. None throws. */

/** Value at a path of keys, or `undefined`. */
export function at(payload: unknown, ...path: readonly string[]): unknown {
  let value = payload;
  for (const key of path) value = isJsonObject(value) ? value[key] : undefined;
  return value;
}

/** The text; empty for anything else, which no required field may be. */
export const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** An integer that JavaScript holds exactly. The API server refuses others, which a schema's `integer` admits. */
export const integer = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) ? (value as number) : undefined;

const FULL_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,9})?) ?(Z|UTC|[+-]\d\d:?\d\d)$/;
/** Tolerance for a host's clock ahead of ours. A later time would outdate all following events. */
const AHEAD_MS = 5 * 60_000;

/**
 * A moment in ISO 8601 and UTC, from that or from GitLab's `2024-01-01 00:00:00 UTC`. `undefined` for anything else,
 * for the future, and for Gitea's zero time.
 */
export function timestamp(value: unknown, now: Date): string | undefined {
  const match = FULL_TIME.exec(text(value));
  if (match === null) return undefined;
  const [, day, time, zone] = match;
  const moment = Date.parse(`${day}T${time}${zone === "UTC" ? "Z" : zone}`);
  return moment > 0 && moment <= now.getTime() + AHEAD_MS ? new Date(moment).toISOString() : undefined;
}

const BRANCH = "refs/heads/";

/** Branch of a full ref; `undefined` for tags and other refs. */
export const branchOfRef = (ref: unknown): string | undefined =>
  text(ref).startsWith(BRANCH) ? text(ref).slice(BRANCH.length) : undefined;

/** Git's id for no commit. */
export const isNoCommit = (commit: string): boolean => commit !== "" && /^0+$/.test(commit);

/** True when both are objects of one repository: by id, else by name. */
export function isSameRepository(one: unknown, other: unknown): boolean {
  const ids = [integer(at(one, "id")), integer(at(other, "id"))];
  if (!ids.includes(undefined)) return ids[0] === ids[1];
  const [name, otherName] = [one, other].map((repository) => text(at(repository, "full_name")).toLowerCase());
  return name !== "" && name === otherName;
}

const EVENT_NAME_MAX_LENGTH = 64;

/** Value of the first header that is neither missing nor empty. @param names in lower case */
export function headerOf({ headers }: ReceivedWebhook, ...names: readonly string[]): string | undefined {
  return names.map((name) => text(headers[name])).find((value) => value !== "");
}

/** `DeliveryHeaders.eventName`, from the first of the headers. */
export const eventNameOf = (webhook: ReceivedWebhook, ...names: readonly string[]): string =>
  (headerOf(webhook, ...names) ?? "").slice(0, EVENT_NAME_MAX_LENGTH);

/** `DeliveryHeaders.deliveryId`, from the first of the headers. No host has longer ids, and a cut could make two equal. */
export function deliveryIdOf(webhook: ReceivedWebhook, ...names: readonly string[]): string | undefined {
  const id = headerOf(webhook, ...names) ?? "";
  return id !== "" && id.length <= DELIVERY_ID_MAX_LENGTH ? id : undefined;
}
