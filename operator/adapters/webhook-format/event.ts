/** Result of a format: an event that fits its schema, or the reason for none. */

import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { type TSchema, Type } from "typebox";
import {
  type MergeGroupState,
  type PipelineState,
  PullRequestState,
  type PushState,
  WebhookEvent,
} from "../../../crds/webhooks/webhook-event.schema.ts";
import { MOST_READ_LABELS, type ReadEvent, type WebhookFormat } from "../../ports/webhooks/webhook-format.ts";
import { at, branchOfRef, isNoCommit, text } from "./payload.ts";

// The module is CommonJS: under nodenext its callable default export hides one level down in the types.
const addFormats = addFormatsModule as unknown as (ajv: Ajv2020, formats: string[]) => void;
const ajv = new Ajv2020({ strict: true });
addFormats(ajv, ["date-time", "int64"]);

const { labels } = PullRequestState.properties;
const readEvent = Type.Object({
  ...WebhookEvent.properties,
  // The rules choose the stored labels.
  pullRequest: Type.Optional(
    Type.Object({ ...PullRequestState.properties, labels: { ...labels, maxItems: MOST_READ_LABELS } }),
  ),
});

/** Compiled with the first webhook, not at every start. */
function checkOf<T>(schema: TSchema): () => ValidateFunction<T> {
  let check: ValidateFunction<T> | undefined;
  return () => {
    check ??= ajv.compile<T>(schema);
    return check;
  };
}

const eventCheck = checkOf<WebhookEvent>(readEvent);

/** Unchecked fields, validated in one place against the schema. */
export type Found<T> = { readonly [K in keyof T]: unknown };
type Candidate =
  | { readonly type: "pull_request"; readonly pullRequest: Found<PullRequestState> }
  | { readonly type: "push"; readonly push: Found<PushState> }
  | { readonly type: "pipeline"; readonly pipeline: Found<PipelineState> }
  | { readonly type: "merge_group"; readonly mergeGroup: Found<MergeGroupState> }
  | { readonly type: "ping" };

/** The event if it fits its schema; else `other`, with the wrong field. */
export function checked(candidate: Candidate): ReadEvent {
  const fits = eventCheck();
  if (fits(candidate)) return { event: withoutAbsent(candidate) };
  const [error] = fits.errors as [ErrorObject];
  return ignored(`Not a usable ${candidate.type}: ${problemOf(error)}`);
}

/** Name and problem of a field; never a value. */
function problemOf({ instancePath, params, message }: ErrorObject): string {
  const [, , ...path] = instancePath.split("/");
  if ("missingProperty" in params) return `${[...path, params.missingProperty].join(".")} is missing`;
  return `${path.join(".")} ${message}`;
}

const withoutAbsent = (event: WebhookEvent): WebhookEvent => JSON.parse(JSON.stringify(event)) as WebhookEvent;

/** @param reason a sentence for people */
export const ignored = (reason: string): ReadEvent => ({ event: { type: "other" }, reason: reason.slice(0, 300) });

/** Reader of an optional field: its value if it fits the schema. */
export function optional(schema: TSchema): (value: unknown) => string | undefined {
  const check = checkOf(schema);
  return (value) => (check()(value) ? text(value) : undefined);
}

/** Reads the payload of one event name. */
type EventReader = (payload: unknown, now: Date) => ReadEvent;

/** Reads an event by the reader of its name. */
export function readBy(readers: Readonly<Record<string, EventReader>>): WebhookFormat["read"] {
  const byName = new Map(Object.entries(readers));
  return ({ eventName }, payload, { now }) => {
    const read = byName.get(eventName);
    return read?.(payload, now) ?? ignored(`The event ${JSON.stringify(eventName)} is not used`);
  };
}

/** A push in the form that GitHub, Gitea, GitLab and the contract share: `ref`, `after`, and GitHub's `deleted`. */
export function pushEvent(payload: unknown): ReadEvent {
  const branch = branchOfRef(at(payload, "ref"));
  if (branch === undefined) return ignored("The push is not to a branch");
  const commit = text(at(payload, "after"));
  const deleted = at(payload, "deleted") === true || isNoCommit(commit);
  return checked({ type: "push", push: { branch, deleted, ...(deleted ? {} : { commit }) } });
}
