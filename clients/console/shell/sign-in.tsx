import { useEffect } from "preact/hooks";
import { signInAddress } from "../platform/session.ts";

/** Page without a session. */
export function SignIn() {
  useEffect(() => {
    document.title = "Sign in · Environments";
  }, []);
  return (
    <main class="sign-in">
      <div>
        <span class="mark" aria-hidden="true" />
        <h1>Environments</h1>
        <p>Complete, isolated copies of your application, for as long as you need them.</p>
        <a class="button primary" href={signInAddress(location)}>
          Sign in
        </a>
        <p class="quiet">You come back to the page that you asked for.</p>
      </div>
    </main>
  );
}
