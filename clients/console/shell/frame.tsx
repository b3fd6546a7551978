import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { dismiss, failures, outcome } from "../platform/notices.ts";
import { may, type Permission, user } from "../platform/user.ts";

interface Place {
  readonly path: string;
  readonly name: string;
  /** Required permission; every user when left out. */
  readonly needs?: Permission;
  /** Screens below these paths belong to it, too. */
  readonly holds?: readonly string[];
}

const PLACES: readonly Place[] = [
  { path: "/console/", name: "Environments", holds: ["/console/environments/", "/console/new"] },
  { path: "/console/config-sets", name: "Config sets", needs: "configs:read" },
  { path: "/console/repositories", name: "Repositories", needs: "repos:read" },
  { path: "/console/webhooks", name: "Webhooks", needs: "repos:read" },
  { path: "/console/tokens", name: "API tokens", needs: "tokens:manage" },
  { path: "/console/costs", name: "Costs", needs: "observability:read" },
  { path: "/console/insights", name: "Insights", needs: "insights:read" },
  { path: "/console/status", name: "Platform" },
];

/** Frame of each screen: navigation, user, and the last outcome. */
export function Frame({ children }: { readonly children: ComponentChildren }) {
  const { path } = useLocation();
  const [isMenuOpen, setMenuOpen] = useState(false);
  useEffect(() => setMenuOpen(false), [path]);
  return (
    <div class="frame">
      <a class="skip to-content" href="#main">
        Skip to content
      </a>
      <header class="side" data-open={isMenuOpen}>
        <a class="brand" href="/console/">
          <span class="mark" aria-hidden="true" />
          Environments
        </a>
        <button
          type="button"
          class="menu-button"
          aria-expanded={isMenuOpen}
          aria-controls="menu"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          Menu
        </button>
        <div class="menu" id="menu">
          <nav aria-label="Main">
            <ul>
              {PLACES.filter(({ needs }) => needs === undefined || may(needs)).map((place) => (
                <li key={place.path}>
                  <a href={place.path} {...(isAt(place, path) && { "aria-current": "page" as const })}>
                    {place.name}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <WhoAmI />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Notices />
        {children}
      </main>
    </div>
  );
}

function isAt({ path, holds = [] }: Place, current: string): boolean {
  const own = path.replace(/\/$/, "");
  if (current === own) return true;
  return [...holds, ...(own === "/console" ? [] : [`${own}/`])].some((start) => current.startsWith(start));
}

function WhoAmI() {
  if (user.value === undefined) return null;
  const { name, email, roles } = user.value;
  return (
    <div class="who">
      <p>
        <strong>{name || email}</strong>
        <span class="quiet">{roles.at(-1) ?? "no role"}</span>
      </p>
      <form method="post" action="/console/auth/logout">
        <button type="submit" class="small">
          Sign out
        </button>
      </form>
    </div>
  );
}

/** Failures until they are dismissed; outcomes for a moment. */
function Notices() {
  return (
    <>
      {failures.value.map((failure) => (
        <div key={failure.id} class="failure" role="alert">
          <strong>{failure.title}</strong>
          <p>{failure.sentence}</p>
          {failure.requestId && <p class="quiet">Request {failure.requestId}</p>}
          <button type="button" class="small" onClick={() => dismiss(failure)}>
            Dismiss
          </button>
        </div>
      ))}
      <div class="outcome" role="status">
        {outcome.value && <p>{outcome.value}</p>}
      </div>
    </>
  );
}
