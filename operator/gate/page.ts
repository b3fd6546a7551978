import { createHash } from "node:crypto";
import type { GateAnswer } from "./answers.ts";
import { GATE_HEADER } from "./request.ts";

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2024; --muted: #5b636c; --ground: #f6f7f8; --card: #fff; --line: #d8dce0; --mark: #1d62c8; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --muted: #a3abb4; --ground: #15181b; --card: #1e2226; --line: #3a4047; --mark: #7fb0ff; --bad: #ff8a80; }
}
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { box-sizing: border-box; width: min(32rem, calc(100% - 2rem)); padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; }
h1 { margin: 0 0 0.5rem; font-size: 1.375rem; overflow-wrap: anywhere; }
p { margin: 0; color: var(--muted); overflow-wrap: anywhere; }
ol { list-style: none; margin: 1.5rem 0 0; padding: 0; }
li { padding: 0.25rem 0; }
li::before { display: inline-block; width: 1.5rem; content: "\\2026"; color: var(--muted); }
li.done::before { content: "\\2713"; color: var(--mark); }
li.failed::before { content: "\\2717"; color: var(--bad); }
`;

/** Asks how far it is, until something else than the gate answers at the page's own address. */
const SCRIPT = `
const list = document.querySelector("ol");
function show({ title, text, steps }) {
  document.title = title;
  document.querySelector("h1").textContent = title;
  document.querySelector("p").textContent = text;
  list.replaceChildren(...steps.map((step) => {
    const item = document.createElement("li");
    item.className = step.state;
    item.textContent = step.title;
    return item;
  }));
}
async function look() {
  try {
    const options = { headers: { "${GATE_HEADER}": "status" }, cache: "no-store", redirect: "manual" };
    const reply = await fetch(location.href, options);
    if (reply.headers.has("${GATE_HEADER}")) show(await reply.json());
    else if (![502, 503, 504].includes(reply.status)) return location.reload();
  } catch {}
  setTimeout(look, 1000);
}
setTimeout(look, 500);
`;

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Content-Security-Policy of the page: its own style and script, and requests to its own address. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The page of an answer, in HTML. One that may change looks again by itself, without scripts by reloading. */
export function pageOf({ title, text, steps, retryAfterSeconds }: GateAnswer): string {
  const items = steps.map((step) => `<li class="${step.state}">${escaped(step.title)}</li>`).join("");
  const isChanging = retryAfterSeconds !== undefined;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
${isChanging ? '<noscript><meta http-equiv="refresh" content="5"></noscript>' : ""}
</head>
<body>
<main>
<div role="status">
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
</div>
<ol aria-label="Steps">${items}</ol>
</main>
${isChanging ? `<script>${SCRIPT}</script>` : ""}
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? "");
}
