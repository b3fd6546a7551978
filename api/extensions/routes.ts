import { expiresAt, expiryFor, ttlHours } from "../../crds/environment/lifetime.ts";
import { feature, route } from "../route.ts";
import { ExtensionPath, ExtensionReport } from "./schemas.ts";
import { type UsableExtension, usableExtension } from "./usable-extension.ts";

/** Programs of mail and chats open links, so GET changes nothing. */
const LINK = {
  access: "public",
  only: "v2",
  params: ExtensionPath,
  reply: ExtensionReport,
  envelope: "never",
  representation: { type: "text/html", text: extensionPage },
  errors: ["not-found", "conflict", "forbidden", "unavailable"],
} as const;

const getExtension = route({
  ...LINK,
  endpoint: "GET /api/extensions/{token}",
  summary: "Show what the link of an expiry warning extends",
  description:
    "Extension that the link in the e-mail before an expiry would make, for browsers as a page with a button. It changes nothing, however often it is opened.",
})(async ({ params }, services) => reportOf(await usableExtension(params.token, services)));

const useExtension = route({
  ...LINK,
  endpoint: "POST /api/extensions/{token}",
  summary: "Extend an environment by the link of an expiry warning",
  description:
    "Extends the environment once, for its owner, and at most to the longest TTL. Afterwards, and after any other change of the TTL, the link is of no use.",
  auditTarget: () => "link",
})(async ({ params }, services) => {
  const usable = await usableExtension(params.token, services);
  const { environment, expiresAt: onlyFrom, ttlHours: hours } = usable;
  const note = "the link of an expiry warning";
  const extended = await services.environments.extend(environment, { ttlHours: hours, note, onlyFrom });
  const until = expiresAt(extended).toISOString();
  return {
    ...reportOf(usable),
    expires_at: until,
    ttl_hours: ttlHours(extended),
    extended_until: until,
    extended: true,
  };
});

function reportOf({ environment, expiresAt: expiry, ttlHours: hours }: UsableExtension): ExtensionReport {
  return {
    environment_name: environment.metadata.name,
    expires_at: expiry.toISOString(),
    ttl_hours: ttlHours(environment),
    extended_until: expiryFor(environment, hours).toISOString(),
    extended: false,
  };
}

export const extensionRoutes = feature("environments", { getExtension, useExtension });

/** Page of a link: no scripts, styles and images, and a button for the POST. */
function extensionPage(report: ExtensionReport): string {
  const name = text(report.environment_name);
  const body = report.extended
    ? `<p>Environment <b>${name}</b> is extended. It expires at ${text(report.expires_at)}.</p>`
    : `<p>Environment <b>${name}</b> expires at ${text(report.expires_at)}, and everything in it is deleted then.</p>
<form method="post"><button type="submit">Extend it until ${text(report.extended_until)}</button></form>
<p>The link can be used once.</p>`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="robots" content="noindex"><title>Extend ${name}</title></head>
<body>
${body}
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const text = (value: string) => value.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
