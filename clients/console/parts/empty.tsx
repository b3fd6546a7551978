import type { ComponentChildren } from "preact";

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** Placeholder of an empty list. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}
