import type { ExtensionReport } from "./schemas.ts";

/** Page of a link: no scripts, styles and images, and a button for the POST. */
export function extensionPage(report: ExtensionReport): string {
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
