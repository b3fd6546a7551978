import { PipelineState } from "../../../crds/webhooks/webhook-event.schema.ts";
import { optional } from "./event.ts";

const event = optional(PipelineState.properties.event);

/** Replacement for an unusable word: no Repository can name it, so such a run never counts. */
const UNKNOWN = "unknown";

/**
 * Event of a pipeline or workflow run, in GitHub's words if possible; `undefined` without one.
 *
 * @param said the host's word
 * @param words GitHub's word for each differing one of the host
 */
export function runEvent(said: unknown, words: ReadonlyMap<unknown, string>): string | undefined {
  if (said === undefined || said === null) return undefined;
  return words.get(said) ?? event(said) ?? UNKNOWN;
}
