import type { Response } from "express";

/** Sends a page about a failed log-in; it runs and loads nothing. */
export function sendNotice(response: Response, status: number, text: string): void {
  const content = `<h1>The log-in did not work</h1><p>${escaped(text)}</p><p><a href="/console/">Back to the console</a></p>`;
  response.status(status).type("html").send(page("Log-in", content));
}

/** Sends a page that leads to another address at once. */
export function sendOnwards(response: Response, address: string): void {
  const to = escaped(address);
  const refresh = `<meta http-equiv="refresh" content="0;url=${to}">`;
  response.type("html").send(page("Log-out", `<p>You are logged out. <a href="${to}">Go on</a></p>`, refresh));
}

const page = (title: string, content: string, head = "") =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>${head}</head><body>${content}</body></html>\n`;

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
