import type { StreamState } from "../platform/following.ts";

/** Whether what is shown follows the platform by itself. */
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
