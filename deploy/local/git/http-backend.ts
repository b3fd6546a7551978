import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { workplace } from "../../build/run.ts";
import { requestTarget } from "../network/request-target.ts";
import type { ProgramUser } from "../processes/unprivileged.ts";

/** How git serves the repositories of a folder. */
export interface HttpBackend {
  /** The folder below which the URL's path is looked for. */
  readonly root: string;
  /** The protocol that git is told the client wants, instead of what the client says. */
  readonly protocol?: string | undefined;
  /** The user that git runs as; ours by default. */
  readonly user?: ProgramUser | undefined;
  /** Takes what git complains of, after the request that it was about. */
  log(line: string): void;
}

/**
 * Answers one request with `git http-backend`: every repository can be read without credentials, and no push is accepted.
 * https://git-scm.com/docs/git-http-backend: a CGI program, https://www.rfc-editor.org/rfc/rfc3875.
 *
 * Never rejects: 400 answers what names no path, 500 what git gives no answer to.
 */
export async function httpBackend(
  request: IncomingMessage,
  reply: ServerResponse,
  options: HttpBackend,
): Promise<void> {
  const log = (words: string) => options.log(`${request.method} ${request.url}: ${words}`);
  const target = requestTarget(request);
  if (target === undefined) return void reply.writeHead(400).end();
  try {
    const cgi = startGit(request, target, options);
    // A client may go in the middle of its request, and git before its end: git ends with its input either way.
    pipeline(request, cgi.stdin, () => undefined);
    const [output, complaint] = await Promise.all([buffer(cgi.stdout), text(cgi.stderr), once(cgi, "close")]);
    if (complaint !== "") log(complaint.trimEnd());
    answerWith(output, reply);
  } catch (error) {
    log(String(error));
    if (!reply.headersSent) reply.writeHead(500);
    reply.end();
  }
}

function startGit(request: IncomingMessage, target: URL, options: HttpBackend): ChildProcessWithoutNullStreams {
  const { headers, method } = request;
  return spawn("git", ["http-backend"], {
    ...workplace(options.user ?? {}),
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: options.root,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_ADDR: "127.0.0.1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_SYSTEM: "/dev/null",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
      REQUEST_METHOD: method,
      PATH_INFO: target.pathname,
      QUERY_STRING: target.search.slice(1),
      CONTENT_TYPE: headers["content-type"],
      CONTENT_LENGTH: headers["content-length"],
      HTTP_CONTENT_ENCODING: headers["content-encoding"],
      GIT_PROTOCOL: options.protocol ?? String(headers["git-protocol"] ?? ""),
    },
  });
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
