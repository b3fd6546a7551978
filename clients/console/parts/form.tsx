import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Violation, violationsOf } from "../platform/problems.ts";
import { FailureBox } from "./failure-box.tsx";

interface FormProps {
  /** Sends the form; a refusal is shown in it. */
  readonly submit: (values: FormData) => Promise<void>;
  readonly label: string;
  /** Red button, for a form that destroys something. */
  readonly isDangerous?: boolean;
  readonly isIncomplete?: boolean;
  readonly onCancel?: () => void;
  /** Fields, which get their violations. */
  readonly children: (violations: readonly Violation[]) => ComponentChildren;
  readonly onInput?: (values: FormData) => void;
}

/** A form that shows a refusal until it is sent again: the platform's sentence, and the violations of the fields. */
export function Form({ submit, label, isDangerous, isIncomplete, onCancel, children, onInput }: FormProps) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // Focuses the first wrong field.
  useEffect(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [error]);
  async function send(values: FormData) {
    setBusy(true);
    setError(undefined);
    try {
      await submit(values);
    } catch (refusal) {
      setError(refusal);
    }
    setBusy(false);
  }
  return (
    <form
      ref={form}
      class="form"
      onInput={onInput && (({ currentTarget }) => onInput(new FormData(currentTarget)))}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void send(new FormData(event.currentTarget));
      }}
    >
      {children(violationsOf(error))}
      {error !== undefined && <FailureBox error={error} title="Not done" />}
      <div class="form-end">
        <button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isIncomplete} aria-disabled={isBusy}>
          {isBusy ? "One moment…" : label}
        </button>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

/** Trimmed text of a field; empty when there is none. */
export function textOf(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === "string" ? value.trim() : "";
}
