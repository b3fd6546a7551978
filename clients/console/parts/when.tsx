import { now } from "../platform/now.ts";
import { agoText, instantText, untilText } from "./words.ts";

/** How long ago that was; the instant itself on hover. */
export function Ago({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={instantText(at)}>
      {agoText(at, now.value)}
    </time>
  );
}

/** The instant itself; how long ago on hover. */
export function At({ instant }: { readonly instant: string }) {
  return (
    <time dateTime={instant} title={agoText(instant, now.value)}>
      {instantText(instant)}
    </time>
  );
}

/** How long it is until then. */
export function Until({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={instantText(at)}>
      {untilText(at, now.value)}
    </time>
  );
}

/** How long ago, or "never". */
export function AgoOrNever({ at }: { readonly at: string | null }) {
  return at === null ? <>never</> : <Ago at={at} />;
}
