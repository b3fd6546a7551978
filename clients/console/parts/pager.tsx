interface PagerProps {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  readonly go: (offset: number) => void;
}

/** Links to other pages of a list, if there are any. */
export function Pager({ total, limit, offset, go }: PagerProps) {
  if (total <= limit && offset === 0) return null;
  const last = Math.min(offset + limit, total);
  return (
    <nav class="pager" aria-label="Pages">
      <p>
        {(offset + 1).toLocaleString()}–{last.toLocaleString()} of {total.toLocaleString()}
      </p>
      <button type="button" disabled={offset === 0} onClick={() => go(Math.max(0, offset - limit))}>
        Newer
      </button>
      <button type="button" disabled={last >= total} onClick={() => go(offset + limit)}>
        Older
      </button>
    </nav>
  );
}
