import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { workplace } from "../../build/run.ts";
import { requestTarget } from "../network/request-target.ts";
import type { ProgramUser } from "../processes/unprivileged.ts";

/** Options for serving the repositories of a folder by git. */
export interface HttpBackend {
  /** The folder that the URL's path is relative to. */
  readonly root: string;
  /** Overrides the protocol that the client requests. */
  readonly protocol?: string | undefined;
  /** False: as a host that gives whole repositories alone. */
  readonly givesFiles?: boolean | undefined;
  readonly user?: ProgramUser | undefined;
  /** Takes git's error output after the request. */
  log(line: string): void;
}

/**
 * Answers one request with `git http-backend`: every repository is readable without credentials, and pushes are refused.
 * https://git-scm.com/docs/git-http-backend: a CGI program, https://www.rfc-editor.org/rfc/rfc3875.
 *
 * Never rejects: 400 for a request without a path, 500 where git gives no answer.
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
    // The client may disconnect during its request, and git may end early: git ends with its input either way.
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
      GIT_CONFIG_COUNT: "2",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
      // Single objects, as the hosts of repositories give them.
      GIT_CONFIG_KEY_1: "uploadpack.allowFilter",
      GIT_CONFIG_VALUE_1: String(options.givesFiles ?? true),
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

function answerWith(output: Buffer, reply: ServerResponse): void {
  const end = output.indexOf("\r\n\r\n");
  const lines = output.toString("latin1", 0, Math.max(end, 0)).split("\r\n");
  const fields = lines.map((line) => line.split(/: ?(.*)/s, 2) as [string, string]);
  const status = fields.find(([name]) => name === "Status")?.[1] ?? "200";
  for (const [name, value] of fields) if (name && name !== "Status") reply.setHeader(name, value);
  reply.writeHead(end < 0 ? 500 : Number.parseInt(status, 10)).end(output.subarray(end + 4));
}
