import { tellFailure, tellOutcome } from "../platform/notices.ts";

interface CopyProps {
  readonly text: string;
  /** Purpose, for screen readers: "Copy the command". */
  readonly label: string;
}

/** Copies a text to the clipboard. */
export function Copy({ text, label }: CopyProps) {
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => tellOutcome("Copied"),
      (error: unknown) => tellFailure("It can't be copied", error),
    );
  return (
    <button type="button" class="small" aria-label={label} onClick={() => void copy()}>
      Copy
    </button>
  );
}
