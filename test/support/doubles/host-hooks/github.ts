import type { HostCall } from "../recording-host.ts";
import { aboutHook, type HostHook, type HostHooks, hookRoutes, invalid } from "./host-hook.ts";

const CHANGED = "2026-06-01T11:00:00Z";
const DELIVERED = "2026-06-01T11:30:00.123Z";
/** Events of https://docs.github.com/en/webhooks/webhook-events-and-payloads that a repository's hook may have. */
const EVENTS = ["*", "issues", "merge_group", "pull_request", "push", "workflow_run"];
const HOOKS = "/repos/shop/[^/]+/hooks";

/**
 * GitHub's hooks, https://docs.github.com/en/rest/repos/webhooks, beyond the checks of `githubContract`. A change replaces
 * the whole config.
 */
export function githubHooks(): HostHooks {
  const hooks: HostHook[] = [];
  const wording = { path: HOOKS, listed: "per_page=100", edit: "PATCH", problemOf, stored, shown } as const;
  const one = `${HOOKS}/(\\d+)`;
  const ping = ({ answers }: HostHook) => answers.push(made.answer);
  const made: HostHooks = {
    hooks,
    answer: 200,
    routes: [
      ...hookRoutes(hooks, wording, ping),
      aboutHook(hooks, `POST ${one}/pings`, (hook) => {
        ping(hook);
        return { status: 204 };
      }),
      aboutHook(hooks, `GET ${one}/deliveries\\?per_page=1`, ({ answers }) => ({
        status: 200,
        body: answers.slice(-1).map(delivery),
      })),
    ],
  };
  return made;
}

/** Rules of GitHub beyond its schema. */
function problemOf({ name, config, events }: HostCall["body"], isNew: boolean) {
  if (isNew && name !== "web") return invalid("name must be web");
  if ((events as string[]).some((event) => !EVENTS.includes(event))) return invalid("unknown event");
  return (config as Record<string, string>).url === undefined ? invalid("url is required") : undefined;
}

function stored({ config, events, active = true }: HostCall["body"]) {
  const { secret, ...shownConfig } = config as Record<string, string>;
  return { secret, fields: { events, active, config: shownConfig } };
}

function shown({ id, fields, secret }: HostHook) {
  const config = { ...(fields.config as object), ...(secret === undefined ? {} : { secret: "********" }) };
  const url = `https://api.github.com/repos/shop/shop-api/hooks/${id}`;
  return {
    type: "Repository",
    id,
    name: "web",
    active: fields.active,
    events: fields.events,
    config,
    updated_at: CHANGED,
    created_at: CHANGED,
    url,
    test_url: `${url}/test`,
    ping_url: `${url}/pings`,
    last_response: { code: null, status: "unused", message: null },
  };
}

const delivery = (status_code: number) => ({
  id: 1,
  guid: "0b989ba4-242f-11e5-81e1-c7b6966d2516",
  delivered_at: DELIVERED,
  redelivery: false,
  duration: 0.3,
  status: status_code === 200 ? "OK" : "Invalid HTTP Response",
  status_code,
  event: "ping",
  action: null,
  installation_id: null,
  repository_id: 1,
});
