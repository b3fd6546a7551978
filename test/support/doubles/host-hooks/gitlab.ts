import { ABSENT, type HostCall } from "../recording-host.ts";
import { add, drop, find, type HostHook, type HostHooks, invalid, refusal } from "./host-hook.ts";

const EVENTS = ["push_events", "merge_requests_events", "pipeline_events", "issues_events", "tag_push_events"];
const FIELDS = [
  ...["url", "name", "enable_ssl_verification", "push_events_branch_filter", "branch_filter_strategy"],
  ...["custom_webhook_template", "token", "signing_token", ...EVENTS],
];
const HOOKS = "\\/projects\\/shop%2F[^/]+\\/hooks";

/** GitLab's part, https://docs.gitlab.com/api/project_webhooks/. A test that is accepted ends a pause. */
export function gitlabHooks(): HostHooks {
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
          const fields = { push_events: true, enable_ssl_verification: true, alert_status: "executable" };
          return wrong ?? { status: 201, body: shown(add(hooks, stored(body, { fields, secret: undefined }))) };
        },
      ],
      [
        route("PUT HOOKS\\/(\\d+)"),
        ({ body }, [id]) => {
          const found = find(hooks, id);
          const wrong = found === undefined ? ABSENT : problemOf(body);
          if (found === undefined || wrong !== undefined) return wrong ?? ABSENT;
          Object.assign(found, stored(body, found));
          return { status: 200, body: shown(found) };
        },
      ],
      [
        route("POST HOOKS\\/(\\d+)\\/test\\/push_events"),
        (_call, [id]) => {
          const found = find(hooks, id);
          if (found === undefined) return ABSENT;
          found.answers.push(made.answer);
          if (made.answer !== 200) return invalid(String(made.answer));
          found.fields = { ...found.fields, alert_status: "executable" };
          return { status: 201, body: { message: "201 Created" } };
        },
      ],
      [
        route("GET HOOKS\\/(\\d+)\\/events\\?per_page=1"),
        (_call, [id]) => ({
          status: 200,
          body: (find(hooks, id)?.answers ?? []).slice(-1).map((status) => ({ response_status: String(status) })),
        }),
      ],
      [route("DELETE HOOKS\\/(\\d+)"), (_call, [id]) => (drop(hooks, id) ? { status: 204 } : ABSENT)],
    ],
  };
  return made;
}

function problemOf(body: HostCall["body"]) {
  if (typeof body.url !== "string") return invalid("url is missing");
  if (EVENTS.some((event) => event in body && typeof body[event] !== "boolean")) return invalid("is invalid");
  return refusal(body, FIELDS);
}

/** A changed address forgets the token. */
function stored(body: HostCall["body"], former: Pick<HostHook, "fields" | "secret">) {
  const { token, signing_token, branch_filter_strategy: _, ...fields } = body;
  const kept = former.fields.url === body.url ? former.secret : undefined;
  const given = signing_token ?? token;
  return { secret: given === undefined ? kept : String(given), fields: { ...former.fields, ...fields } };
}

const shown = ({ id, fields, secret = "" }: HostHook) => ({
  ...{ id, project_id: 3, disabled_until: null, url_variables: [], ...fields },
  ...{
    token_present: secret !== "" && !secret.startsWith("whsec_"),
    signing_token_present: secret.startsWith("whsec_"),
  },
});
