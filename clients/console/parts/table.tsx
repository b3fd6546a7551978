import type { ComponentChildren } from "preact";

interface TableProps {
  /** Content, for screen readers. */
  readonly caption: string;
  /** Names of the columns; `#` marks numbers, `~` hides the name. */
  readonly columns: readonly string[];
  readonly children: ComponentChildren;
  /** Each row becomes a block on a narrow screen, with `data-label` as the title of each cell. */
  readonly isStacked?: boolean;
}

/** A table that can be scrolled by keyboard where it is wider than the screen. */
export function Table({ caption, columns, children, isStacked = false }: TableProps) {
  return (
    <section
      class={isStacked ? "table stacked" : "table"}
      {...(!isStacked && { tabIndex: 0, "aria-label": `Table: ${caption}` })}
    >
      <table>
        <caption class="skip">{caption}</caption>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" class={name.startsWith("#") ? "number" : undefined}>
                {name.startsWith("~") ? <span class="skip">{name.slice(1)}</span> : name.replace(/^#/, "")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
