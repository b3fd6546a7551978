import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { KoaContextWithOIDC } from "oidc-provider";

const maximumBodyBytes = 4096;

/** The body, or undefined when its declared length is missing or too large. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  if (Number(request.headers["content-length"] ?? Number.POSITIVE_INFINITY) > maximumBodyBytes) return undefined;
  return text(request);
}

/** The fields of a submitted form; undefined without a valid length. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const body = await readBody(request);
  return body === undefined ? undefined : new URLSearchParams(body);
}

const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
};

/** Answers with a page. */
export function answer(response: ServerResponse, status: number, page: string): void {
  response.writeHead(status, pageHeaders).end(page);
}

/** Answers one of the provider's own requests with a page. */
export function showPage(context: KoaContextWithOIDC, page: string): void {
  context.set(pageHeaders);
  context.body = page;
}
