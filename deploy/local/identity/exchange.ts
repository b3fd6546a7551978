import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

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

/** Answers with a page that runs and embeds nothing. */
export function answer(response: ServerResponse, status: number, page: string): void {
  const security = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  };
  response.writeHead(status, { "content-type": "text/html; charset=utf-8", "cache-control": "no-store", ...security });
  response.end(page);
}
