import { signal } from "@preact/signals";

/** Current time in milliseconds, updated once a second. */
export const now = signal(Date.now());

setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, 1_000);
