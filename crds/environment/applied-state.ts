import { PULL_REQUEST_STATE_ANNOTATION } from "../group.ts";
import type { AppliedState } from "./applied-state.schema.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";

export type { AppliedState } from "./applied-state.schema.ts";

const FORM = /^(\S{1,64}) (open|closed) ([0-9a-f]{40}|[0-9a-f]{64})$/;

interface ReportedState extends Pick<AppliedState, "state"> {
  readonly updatedAt?: string;
  readonly headCommit: string;
}

/** Annotation with a pull request's state; empty for a host that reports no time. */
export function appliedAnnotation({ updatedAt, state, headCommit }: ReportedState): Record<string, string> {
  if (updatedAt === undefined) return {};
  return { [PULL_REQUEST_STATE_ANNOTATION]: `${new Date(updatedAt).toISOString()} ${state} ${headCommit}` };
}

/** Stored state of an environment's pull request; `undefined` without one. */
export function appliedState({ metadata }: Pick<EphemeralEnvironment, "metadata">): AppliedState | undefined {
  const [, at = "", state, commit = ""] = FORM.exec(metadata.annotations?.[PULL_REQUEST_STATE_ANNOTATION] ?? "") ?? [];
  if (Number.isNaN(Date.parse(at)) || (state !== "open" && state !== "closed")) return undefined;
  return { at, state, commit };
}
