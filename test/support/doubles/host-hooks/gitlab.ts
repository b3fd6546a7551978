import type { HostCall } from "../recording-host.ts";
import { aboutHook, type HostHook, type HostHooks, hookRoutes, invalid, refusal } from "./host-hook.ts";

const EVENTS = ["push_events", "merge_requests_events", "pipeline_events", "issues_events", "tag_push_events"];
const FIELDS = [
  "url",
  "name",
  "enable_ssl_verification",
  "push_events_branch_filter",
  "branch_filter_strategy",
  "custom_webhook_template",
  "token",
  "signing_token",
  ...EVENTS,
];
const HOOKS = "/projects/shop%2F[^/]+/hooks";

/** GitLab's hooks, https://docs.gitlab.com/api/project_webhooks/. A successful test ends a pause. */
export function gitlabHooks(): HostHooks {
  const hooks: HostHook[] = [];
  const one = `${HOOKS}/(\\d+)`;
  const made: HostHooks = {
    hooks,
    answer: 200,
    routes: [
      ...hookRoutes(hooks, { path: HOOKS, listed: "per_page=100", edit: "PUT", problemOf, stored, shown }),
      aboutHook(hooks, `POST ${one}/test/push_events`, (hook) => {
        hook.answers.push(made.answer);
        if (made.answer !== 200) return invalid(String(made.answer));
        hook.fields = { ...hook.fields, alert_status: "executable" };
        return { status: 201, body: { message: "201 Created" } };
      }),
      aboutHook(hooks, `GET ${one}/events\\?per_page=1`, ({ answers }) => ({
        status: 200,
        body: answers.slice(-1).map((status) => ({ response_status: String(status) })),
      })),
    ],
  };
  return made;
}

function problemOf(body: HostCall["body"]) {
  if (typeof body.url !== "string") return invalid("url is missing");
  if (EVENTS.some((event) => event in body && typeof body[event] !== "boolean")) return invalid("is invalid");
  return refusal(body, FIELDS);
}

const UNTOUCHED = {
  fields: { push_events: true, enable_ssl_verification: true, alert_status: "executable" },
  secret: undefined,
};

/** A changed address drops the token. */
function stored(body: HostCall["body"], former: Pick<HostHook, "fields" | "secret"> = UNTOUCHED) {
  const { token, signing_token, branch_filter_strategy: _, ...fields } = body;
  const kept = former.fields.url === body.url ? former.secret : undefined;
  const given = signing_token ?? token;
  return { secret: given === undefined ? kept : String(given), fields: { ...former.fields, ...fields } };
}

const shown = ({ id, fields, secret = "" }: HostHook) => ({
  id,
  project_id: 3,
  disabled_until: null,
  url_variables: [],
  ...fields,
  token_present: secret !== "" && !secret.startsWith("whsec_"),
  signing_token_present: secret.startsWith("whsec_"),
});
