import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { clockText, instantText } from "../parts/words.ts";
import { isAtEnd, type Line } from "./log-lines.ts";

interface ScrollProps {
  readonly lines: readonly Line[];
  readonly total: number;
  readonly label: string;
  readonly isOver: boolean;
}

/** Follows lines until the reader scrolls up; then they stay, and a way back is shown. */
export function Scroll({ lines, total, label, isOver }: ScrollProps) {
  const box = useRef<HTMLDivElement>(null);
  /** Number of lines when the reader left the end; `undefined` while the end is followed. */
  const [left, setLeft] = useState<number>();
  const toEnd = () => box.current?.scrollTo({ top: box.current.scrollHeight });
  useLayoutEffect(() => {
    if (left !== undefined) return undefined;
    toEnd();
    // Lines get their height only in view.
    const frame = requestAnimationFrame(toEnd);
    return () => cancelAnimationFrame(frame);
  }, [lines, left]);
  /** Only scrolling up leaves the end: growing lines move it, too. */
  const top = useRef(0);
  const onScroll = (seen: HTMLDivElement) => {
    const isUp = seen.scrollTop < top.current;
    top.current = seen.scrollTop;
    if (isAtEnd(seen)) setLeft(undefined);
    else if (isUp) setLeft((former) => former ?? total);
  };
  const missed = left === undefined ? 0 : total - left;
  return (
    <div class="log-frame">
      <div
        ref={box}
        class="log"
        role="log"
        aria-live="off"
        aria-label={label}
        // Scrollable by keyboard, too.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        onScroll={({ currentTarget }) => onScroll(currentTarget)}
      >
        {lines.length === 0 && (
          <p class="quiet">{isOver ? "No lines." : "No lines yet. They appear here as they are written."}</p>
        )}
        {lines.map(({ number, timestamp, level, message }) => (
          <div key={number} class="line" data-level={level}>
            <time dateTime={timestamp} title={instantText(timestamp)}>
              {clockText(timestamp)}
            </time>
            <span class="message">{message}</span>
          </div>
        ))}
      </div>
      {left !== undefined && (
        <button type="button" class="to-end" onClick={() => setLeft(undefined)}>
          {missed > 0 ? `${missed.toLocaleString()} new below` : "To the newest"}
        </button>
      )}
    </div>
  );
}
