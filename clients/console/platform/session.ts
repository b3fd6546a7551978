import { signal } from "@preact/signals";

/** True when this browser has no session any more: the page asks to sign in. */
export const isSignedOut = signal(false);

/** The tabs of a browser share one session; only one of them renews it at a time. */
const LOCK = "console-session";

let renewing: Promise<Response> | undefined;

/**
 * Sends a request of the page with its session, which is renewed once after a 401. When that fails, such as during an
 * outage of the identity provider, the answer is the reason.
 */
export async function sendWithSession(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await fetch(request);
  if (response.status !== 401) return response;
  const renewal = await renewed();
  if (renewal.ok) return fetch(again);
  if (renewal.status !== 401) return renewal.clone();
  isSignedOut.value = true;
  return response;
}

/** Renews the session. Concurrent calls share one answer, and read its clones. */
function renewed(): Promise<Response> {
  renewing ??= navigator.locks.request(LOCK, renew).finally(() => {
    renewing = undefined;
  });
  return renewing;
}

const renew = (): Promise<Response> => fetch("/console/auth/refresh", { method: "POST" });

/** Sign-in address, which returns to the current page. */
export function signInAddress({ pathname, search }: { readonly pathname: string; readonly search: string }): string {
  return `/console/auth/login?back=${encodeURIComponent(`${pathname}${search}`)}`;
}
