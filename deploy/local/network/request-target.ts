import type { IncomingMessage } from "node:http";

/**
 * The path and query of a request, or undefined without a path: `*`, or a target that begins with two slashes, which a URL
 * would take for a host. Dot segments are resolved, as in a browser. https://www.rfc-editor.org/rfc/rfc9112#section-3.2
 */
export function requestTarget({ url = "" }: Pick<IncomingMessage, "url">): URL | undefined {
  const target = url.startsWith("/") ? `http://localhost${url}` : url;
  const parsed = /^https?:\/\//i.test(target) ? URL.parse(target) : null;
  return parsed === null || parsed.pathname.startsWith("//") ? undefined : parsed;
}
