import type { UnverifiedEvent } from "../../operator/ports/api/webhook-inbox.ts";
import { HttpError } from "../errors.ts";
import type { RawBody } from "../input/raw-body.ts";

type Fields = Readonly<Record<string, unknown>>;
type Sent = Pick<UnverifiedEvent, "eventName" | "message">;

/** Characters that a terminal or a page could take for a command. */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const FIELD_MAX_LENGTH = 100;

/** Content of a generic webhook. @throws HttpError (malformed) */
export function genericEvent({ bytes }: RawBody): Sent {
  const fields = fieldsOf(bytes);
  return {
    eventName: text(fields, "event") || text(fields, "event_type") || "generic",
    message: text(fields, "message", 500),
  };
}

const TOLD = ["environment_name", "environment_id", "status", "repository", "branch", "commit_sha"] as const;

/** Content of an environment's event. @throws HttpError (malformed) */
export function environmentEvent({ bytes }: RawBody): Sent {
  const fields = fieldsOf(bytes);
  const told = TOLD.flatMap((name) => (text(fields, name) === "" ? [] : [`${name}=${text(fields, name)}`]));
  return { eventName: text(fields, "event_type") || "environment", message: told.join(" ") };
}

/** Fields of a body; none for a JSON value that is no object. */
function fieldsOf(bytes: Buffer): Fields {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Fields) : {};
  } catch (cause) {
    throw new HttpError("malformed", "The body is not valid JSON", { cause });
  }
}

function text(fields: Fields, name: string, most = FIELD_MAX_LENGTH): string {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return typeof value === "string" ? value.slice(0, most).replaceAll(CONTROLS, " ").trim() : "";
}
