import { createHash } from "node:crypto";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { creationMark, type IdempotencyRecord } from "../../../crds/environment/idempotency-record.ts";
import type { Caller } from "../../auth/callers.ts";
import { HttpError } from "../../http-error.ts";
import type { CreateRequest } from "../schemas.ts";

/** The mark of a creation with an `Idempotency-Key`: the same key of two callers is two keys. */
export function markOf(key: string, body: CreateRequest, caller: Pick<Caller, "subject">): IdempotencyRecord {
  return { key: hash([caller.subject, key]), request: hash(comparable(body)) };
}

/** @throws Refusal (conflict) when the environment was made by the same key with another request */
export function checkSameRequest(environment: EphemeralEnvironment, mark: IdempotencyRecord): void {
  if (creationMark(environment)?.request === mark.request) return;
  throw new HttpError(
    "conflict",
    `Idempotency-Key: another request with this key made the environment '${environment.metadata.name}'; use a new key`,
  );
}

const hash = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("base64url");

/**
 * What two requests must have in common to be one, whatever the order of their fields: all but the text of variables.
 * It may be a secret, and the hash of one that is short can be guessed by whoever may read the resource.
 */
function comparable(value: unknown, isOfVariables = false): unknown {
  if (Array.isArray(value)) return value.map((item) => comparable(item));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => {
    const isText = isOfVariables && typeof field === "string";
    return [name, isText ? "" : comparable(field, name === "env")] as const;
  });
  return fields.sort(([one], [other]) => (one < other ? -1 : 1));
}
