import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Violation, violationsOf } from "../platform/problems.ts";
import { FailureBox } from "./failure-box.tsx";

interface FormProps {
  /** Sends it; a refusal is shown in the form. */
  readonly submit: (values: FormData) => Promise<void>;
  readonly label: string;
  /** What the button of a form that destroys says is red. */
  readonly isDangerous?: boolean;
  readonly isIncomplete?: boolean;
  readonly onCancel?: () => void;
  /** The fields, which get what the platform says about each. */
  readonly children: (violations: readonly Violation[]) => ComponentChildren;
  readonly onInput?: (values: FormData) => void;
}

/** A form whose refusals stay in it until they are sent again: the platform's sentence, and what it says of each field. */
export function Form({ submit, label, isDangerous, isIncomplete, onCancel, children, onInput }: FormProps) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // The first field that is wrong is where one goes on.
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

/** A field's text without spaces around it; empty when there is none. */
export function textOf(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === "string" ? value.trim() : "";
}
