import { useEffect, useState } from "preact/hooks";
import { addressOf, type ListQuery } from "./page-of-list.ts";

const STATES = ["creating", "building", "updating", "ready", "failed", "terminating"] as const;
/** A search is sent this long after the last key. */
const TYPED_MS = 250;

interface FiltersProps {
  readonly query: ListQuery;
  readonly go: (change: Partial<ListQuery>) => void;
}

/** Filters of the list; all are in the address, so that it can be passed on. The search is debounced. */
export function Filters({ query, go }: FiltersProps) {
  const [typed, setTyped] = useState(query.search);
  useEffect(() => {
    if (typed.trim() === query.search) return undefined;
    const timer = setTimeout(() => go({ search: typed.trim() }), TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed, addressOf(query)]);
  useEffect(() => setTyped(query.search), [query.search]);
  return (
    <search class="filters">
      <input
        type="search"
        aria-label="Search by name"
        placeholder="Search by name"
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <select
        aria-label="State"
        value={query.status}
        onChange={({ currentTarget }) => go({ status: currentTarget.value })}
      >
        <option value="">All states</option>
        {STATES.map((state) => (
          <option key={state} value={state}>
            {state}
          </option>
        ))}
      </select>
      <label class="toggle">
        <input
          type="checkbox"
          checked={query.isMine}
          onChange={({ currentTarget }) => go({ isMine: currentTarget.checked })}
        />
        Mine
      </label>
    </search>
  );
}
