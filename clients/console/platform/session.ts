import { signal } from "@preact/signals";

/** Whether the platform knows no session of this browser any more: the page asks to sign in. */
export const isSignedOut = signal(false);

/** The tabs of a browser share one session; only one of them renews it at a time. */
const LOCK = "console-session";

let renewing: Promise<Response> | undefined;

/**
 * Sends a request of the page with its session, which is renewed once where the platform asks for a credential. Where that can't
 * be done now, such as while the identity provider is away, the answer is why.
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

/** Whether the session goes on. Calls that need that at the same time share one answer: only clones of it are read. */
function renewed(): Promise<Response> {
  renewing ??= navigator.locks.request(LOCK, renew).finally(() => {
    renewing = undefined;
  });
  return renewing;
}

const renew = (): Promise<Response> => fetch("/console/auth/refresh", { method: "POST" });

/** Where one signs in, and comes back to the page that is shown. */
export function signInAddress({ pathname, search }: { readonly pathname: string; readonly search: string }): string {
  return `/console/auth/login?back=${encodeURIComponent(`${pathname}${search}`)}`;
}
