import type { StreamState } from "../platform/following.ts";

/** Mark that shows whether the list is live. */
export function LiveMark({ state }: { readonly state: StreamState }) {
  if (typeof state === "object")
    return (
      <span class="live" data-tone="warn">
        not live: reload the page
      </span>
    );
  const words = { connecting: "connecting", live: "live", interrupted: "reconnecting", over: "ended" } as const;
  return (
    <span class="live" data-tone={state === "live" ? "good" : "warn"}>
      {words[state]}
    </span>
  );
}
