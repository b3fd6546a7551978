import type { ComponentChildren } from "preact";
import type { Loaded } from "../platform/loading.ts";
import { FailureBox } from "./failure-box.tsx";

interface LoadedViewProps<T> {
  readonly of: Loaded<T>;
  /** Subject in the failure's title: "The costs". */
  readonly what: string;
  readonly children: (value: T) => ComponentChildren;
}

/** Loaded content; before it, a placeholder or the failure. */
export function LoadedView<T>({ of, what, children }: LoadedViewProps<T>) {
  return (
    <>
      {of.error !== undefined && (
        <FailureBox title={`${what} can't be shown`} error={of.error}>
          <button type="button" class="small" onClick={of.reload}>
            Try again
          </button>
        </FailureBox>
      )}
      {of.value === undefined ? of.error === undefined && <Waiting /> : children(of.value)}
    </>
  );
}

/** Placeholder rows. */
export function Waiting() {
  return (
    <div class="waiting" aria-busy="true">
      <p class="skip">Loading</p>
      <span />
      <span />
      <span />
    </div>
  );
}
