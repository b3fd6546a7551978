import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { KoaContextWithOIDC } from "oidc-provider";

const maximumBodyBytes = 4096;

/** The body, if the request says that it is a short one. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  if (Number(request.headers["content-length"] ?? Number.POSITIVE_INFINITY) > maximumBodyBytes) return undefined;
  return text(request);
}

/** The fields of a submitted form. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const body = await readBody(request);
  return body === undefined ? undefined : new URLSearchParams(body);
}

/** Of a page that runs and embeds nothing. */
const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
};

/** Answers with a page. */
export function answer(response: ServerResponse, status: number, page: string): void {
  response.writeHead(status, pageHeaders).end(page);
}

/** Answers a request of the provider's own with a page. */
export function showPage(context: KoaContextWithOIDC, page: string): void {
  context.set(pageHeaders);
  context.body = page;
}
