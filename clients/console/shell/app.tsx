import { useEffect } from "preact/hooks";
import { ErrorBoundary, LocationProvider } from "preact-iso";
import { LoadedView } from "../parts/loaded-view.tsx";
import { useLoaded } from "../platform/loading.ts";
import { tellFailure } from "../platform/notices.ts";
import { isSignedOut, signInAddress } from "../platform/session.ts";
import { learnUser } from "../platform/user.ts";
import { Frame } from "./frame.tsx";
import { Screens } from "./screens.tsx";

/** Paths below `/console/` that the page shows itself; those of the session are the server's. */
const OWN_PATHS = /^\/console\/(?!auth\/)/;

/** The console: the sign-in page, or the screens of the user who has signed in. */
export function App() {
  const known = useLoaded("user", learnUser);
  useEffect(() => {
    // A screen's code that is no longer served: the platform has been updated since the page was opened.
    const onOutdated = () =>
      tellFailure("This screen can't be loaded", new Error("Reload the page: it may be outdated."));
    addEventListener("vite:preloadError", onOutdated);
    return () => removeEventListener("vite:preloadError", onOutdated);
  }, []);
  if (isSignedOut.value) return <SignIn />;
  return (
    <LocationProvider scope={OWN_PATHS}>
      <Frame>
        <LoadedView of={known} what="The console">
          {() => (
            <ErrorBoundary onError={(error) => tellFailure("This screen has a fault", error)}>
              <Screens />
            </ErrorBoundary>
          )}
        </LoadedView>
      </Frame>
    </LocationProvider>
  );
}

/** Page without a session. */
function SignIn() {
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
