import type { ComponentChildren } from "preact";
import { requestIdOf, sentenceOf } from "../platform/problems.ts";

interface FailureBoxProps {
  readonly title: string;
  readonly error: unknown;
  readonly children?: ComponentChildren;
}

/** A failure in its place: sentence and request id. */
export function FailureBox({ title, error, children }: FailureBoxProps) {
  const requestId = requestIdOf(error);
  return (
    <div class="failure" role="alert">
      <strong>{title}</strong>
      <p>{sentenceOf(error)}</p>
      {requestId && <p class="quiet">Request {requestId}</p>}
      {children}
    </div>
  );
}
