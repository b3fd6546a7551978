import { now } from "../platform/now.ts";
import { agoText, instantText, untilText } from "./words.ts";

/** Relative time; the instant on hover. */
export function Ago({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={instantText(at)}>
      {agoText(at, now.value)}
    </time>
  );
}

/** Instant; the relative time on hover. */
export function At({ instant }: { readonly instant: string }) {
  return (
    <time dateTime={instant} title={agoText(instant, now.value)}>
      {instantText(instant)}
    </time>
  );
}

/** Time until an instant. */
export function Until({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={instantText(at)}>
      {untilText(at, now.value)}
    </time>
  );
}

/** Relative time, or "never". */
export function AgoOrNever({ at }: { readonly at: string | null }) {
  return at === null ? <>never</> : <Ago at={at} />;
}
