import { signal } from "@preact/signals";

/** Current time for relative times; updated once a second. In milliseconds. */
export const now = signal(Date.now());

setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, 1_000);
