import { spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";

/** How git serves the repositories of a folder. */
export interface HttpBackend {
  /** The folder below which the URL's path is looked for. */
  readonly root: string;
  /** The protocol that git is told the client wants, instead of what the client says. */
  readonly protocol?: string | undefined;
  /** The user that git runs as; ours by default. */
  readonly user?: { readonly uid: number; readonly gid: number };
}

/**
 * Answers one request with `git http-backend`: every repository can be read without credentials, and no push is accepted.
 * https://git-scm.com/docs/git-http-backend: a CGI program, https://www.rfc-editor.org/rfc/rfc3875.
 */
export function httpBackend(request: IncomingMessage, reply: ServerResponse, options: HttpBackend): void {
  const { pathname, search } = new URL(request.url ?? "/", "http://git.test");
  const { headers } = request;
  const cgi = spawn("git", ["http-backend"], {
    ...options.user,
    env: {
      ...{ PATH: process.env.PATH, GIT_PROJECT_ROOT: options.root, GIT_HTTP_EXPORT_ALL: "1", REMOTE_ADDR: "127.0.0.1" },
      ...{ GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
      // The repositories belong to another user than the one that reads them.
      ...{ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "safe.directory", GIT_CONFIG_VALUE_0: "*" },
      ...{ REQUEST_METHOD: request.method, PATH_INFO: pathname, QUERY_STRING: search.slice(1) },
      ...{ CONTENT_TYPE: headers["content-type"], CONTENT_LENGTH: headers["content-length"] },
      HTTP_CONTENT_ENCODING: headers["content-encoding"],
      GIT_PROTOCOL: options.protocol ?? String(headers["git-protocol"] ?? ""),
    },
  });
  // A client may go in the middle of its request, and git before its end: git ends with its input either way.
  pipeline(request, cgi.stdin, () => undefined);
  const chunks: Buffer[] = [];
  cgi.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  cgi.on("error", (error) => reply.destroy(error));
  cgi.on("close", () => answerWith(Buffer.concat(chunks), reply));
}

/** Headers as CGI says them, one line each, an empty line, the body. */
function answerWith(output: Buffer, reply: ServerResponse): void {
  const end = output.indexOf("\r\n\r\n");
  const lines = output.toString("latin1", 0, Math.max(end, 0)).split("\r\n");
  const fields = lines.map((line) => line.split(/: ?(.*)/s, 2) as [string, string]);
  const status = fields.find(([name]) => name === "Status")?.[1] ?? "200";
  for (const [name, value] of fields) if (name && name !== "Status") reply.setHeader(name, value);
  reply.writeHead(end < 0 ? 500 : Number.parseInt(status, 10)).end(output.subarray(end + 4));
}
