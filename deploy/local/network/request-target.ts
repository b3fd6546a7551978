import type { IncomingMessage } from "node:http";

/**
 * The path and the query that a request is for, or undefined when it names no path: `*`, or one that begins with two slashes,
 * which a URL takes for the name of a host. The path is as a browser would send it: without dot segments.
 * https://www.rfc-editor.org/rfc/rfc9112#section-3.2
 */
export function requestTarget({ url = "" }: Pick<IncomingMessage, "url">): URL | undefined {
  const target = url.startsWith("/") ? `http://localhost${url}` : url;
  const parsed = /^https?:\/\//i.test(target) ? URL.parse(target) : null;
  return parsed === null || parsed.pathname.startsWith("//") ? undefined : parsed;
}
