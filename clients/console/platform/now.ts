import { signal } from "@preact/signals";

/** The present, for what is shown relative to it; it goes on once a second. In milliseconds. */
export const now = signal(Date.now());

setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, 1_000);
