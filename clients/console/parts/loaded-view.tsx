import type { ComponentChildren } from "preact";
import type { Loaded } from "../platform/loading.ts";
import { FailureBox } from "./failure-box.tsx";

interface LoadedViewProps<T> {
  readonly of: Loaded<T>;
  /** What is loaded, in the failure's title: "The costs". */
  readonly what: string;
  readonly children: (value: T) => ComponentChildren;
}

/** What was loaded; until then that it is being loaded, and why it can't be. */
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

/** Rows that stand for what is not there yet. */
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
