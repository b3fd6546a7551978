import { ABSENT, type HostCall } from "../recording-host.ts";
import { add, drop, find, type HostHook, type HostHooks, invalid } from "./host-hook.ts";

const CHANGED = "2026-06-01T11:00:00Z";
const DELIVERED = "2026-06-01T11:30:00.123Z";
/** Those of https://docs.github.com/en/webhooks/webhook-events-and-payloads that a repository's hook may have. */
const EVENTS = ["*", "issues", "merge_group", "pull_request", "push", "workflow_run"];
const HOOKS = "\\/repos\\/shop\\/[^/]+\\/hooks";

/**
 * GitHub's part, https://docs.github.com/en/rest/repos/webhooks, beside what `githubContract` refuses. A changed hook has
 * exactly the config that was sent.
 */
export function githubHooks(): HostHooks {
  const hooks: HostHook[] = [];
  const route = (text: string) => new RegExp(`^${text.replace("HOOKS", HOOKS)}$`);
  const made: HostHooks = {
    hooks,
    answer: 200,
    routes: [
      [route("GET HOOKS\\?per_page=100"), () => ({ status: 200, body: hooks.map(shown) })],
      [
        route("POST HOOKS"),
        ({ body }) => {
          const wrong = problemOf(body);
          if (wrong !== undefined) return wrong;
          if (body.name !== "web") return invalid("name must be web");
          const added = add(hooks, stored(body));
          added.answers.push(made.answer);
          return { status: 201, body: shown(added) };
        },
      ],
      [
        route("PATCH HOOKS\\/(\\d+)"),
        ({ body }, [id]) => {
          const found = find(hooks, id);
          const wrong = found === undefined ? ABSENT : problemOf(body);
          if (found === undefined || wrong !== undefined) return wrong ?? ABSENT;
          Object.assign(found, stored(body));
          return { status: 200, body: shown(found) };
        },
      ],
      [
        route("POST HOOKS\\/(\\d+)\\/pings"),
        (_call, [id]) => {
          find(hooks, id)?.answers.push(made.answer);
          return find(hooks, id) === undefined ? ABSENT : { status: 204 };
        },
      ],
      [
        route("GET HOOKS\\/(\\d+)\\/deliveries\\?per_page=1"),
        (_call, [id]) => ({ status: 200, body: (find(hooks, id)?.answers ?? []).slice(-1).map(delivery) }),
      ],
      [route("DELETE HOOKS\\/(\\d+)"), (_call, [id]) => (drop(hooks, id) ? { status: 204 } : ABSENT)],
    ],
  };
  return made;
}

/** What GitHub wants beyond its schema. */
function problemOf({ config, events }: HostCall["body"]) {
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
    ...{ type: "Repository", id, name: "web", active: fields.active, events: fields.events, config },
    ...{ updated_at: CHANGED, created_at: CHANGED, url, test_url: `${url}/test`, ping_url: `${url}/pings` },
    last_response: { code: null, status: "unused", message: null },
  };
}

const delivery = (status_code: number) => ({
  ...{ id: 1, guid: "0b989ba4-242f-11e5-81e1-c7b6966d2516", delivered_at: DELIVERED, redelivery: false, duration: 0.3 },
  ...{ status: status_code === 200 ? "OK" : "Invalid HTTP Response", status_code, event: "ping", action: null },
  ...{ installation_id: null, repository_id: 1 },
});
