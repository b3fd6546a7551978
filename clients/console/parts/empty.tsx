import type { ComponentChildren } from "preact";

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** What stands where a list has nothing: what it is for, and what to do. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}
