import type {
  ComponentChildren,
  InputHTMLAttributes,
  SelectHTMLAttributes,
  TargetedEvent,
  TextareaHTMLAttributes,
} from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly wrong?: string | undefined;
}

type Described = { readonly id: string; readonly "aria-describedby"?: string; readonly "aria-invalid"?: boolean };

function Labelled({ label, hint, wrong, children }: FieldProps & { children: (own: Described) => ComponentChildren }) {
  const id = useId();
  const notes = [hint && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, ...(notes && { "aria-describedby": notes }), ...(wrong && { "aria-invalid": true }) })}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {wrong && (
        <p class="wrong" id={`${id}-wrong`}>
          {wrong}
        </p>
      )}
    </div>
  );
}

export function TextField({ label, hint, wrong, ...input }: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Labelled label={label} hint={hint} wrong={wrong}>
      {(own) => <input type="text" autocomplete="off" spellcheck={false} {...input} {...own} />}
    </Labelled>
  );
}

export function TextArea({ label, hint, wrong, ...area }: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Labelled label={label} hint={hint} wrong={wrong}>
      {(own) => <textarea spellcheck={false} {...area} {...own} />}
    </Labelled>
  );
}

export function SelectField({
  label,
  hint,
  wrong,
  children,
  ...select
}: FieldProps & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Labelled label={label} hint={hint} wrong={wrong}>
      {(own) => (
        <select {...select} {...own}>
          {children}
        </select>
      )}
    </Labelled>
  );
}

interface CheckFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly name?: string;
  readonly value?: string;
  readonly checked?: boolean;
  readonly onChange?: (event: TargetedEvent<HTMLInputElement>) => void;
}

export function CheckField({ label, hint, ...input }: CheckFieldProps) {
  const id = useId();
  return (
    <div class="check">
      <input type="checkbox" {...input} id={id} {...(hint && { "aria-describedby": `${id}-hint` })} />
      <div>
        <label for={id}>{label}</label>
        {hint && (
          <p class="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
