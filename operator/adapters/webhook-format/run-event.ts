import { PipelineState } from "../../../crds/webhooks/webhook-event.schema.ts";
import { optional } from "./event.ts";

const event = optional(PipelineState.properties.event);

/** What is no word of a host: a Repository can't name it, so such a run counts for none. */
const UNKNOWN = "unknown";

/**
 * The event that a pipeline or a workflow runs for, in GitHub's words where it has one; `undefined` where the sender names
 * none.
 *
 * @param said the host's word
 * @param words GitHub's word for each of the host's that differs
 */
export function runEvent(said: unknown, words: ReadonlyMap<unknown, string>): string | undefined {
  if (said === undefined || said === null) return undefined;
  return words.get(said) ?? event(said) ?? UNKNOWN;
}
