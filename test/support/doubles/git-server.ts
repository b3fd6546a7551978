import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { git } from "../../../deploy/local/repositories.ts";

/** A git host on loopback: the real `git http-backend` behind node:http. */
export interface GitServer {
  /** `127.0.0.1:port` */
  readonly address: string;
  /** What each question came with in its header `Authorization`: `undefined` for nothing. */
  readonly callers: readonly (string | undefined)[];
  /** Makes a repository with one empty commit at the head of each branch; gives the commit, the same for all. */
  createRepository(name: string, branches: readonly string[], options?: GitRepositoryOptions): Promise<string>;
  /** Puts one more empty commit at the head of the branch; gives it. */
  push(name: string, branch: string): Promise<string>;
  stop(): Promise<void>;
}

interface GitRepositoryOptions {
  readonly objectFormat?: "sha1" | "sha256";
}

export interface GitServerOptions {
  /** `user:password`; whoever brings nothing else is answered 401. Everybody may read when absent. */
  readonly credentials?: string;
  /** Answers instead of git when it returns true. */
  readonly answer?: (request: IncomingMessage, reply: ServerResponse) => boolean;
  /** The protocol that git is told the client wants, whatever the client says. */
  readonly protocol?: string;
}

/** Serves the repositories of a folder of its own on a free port. */
export async function startGitServer(options: GitServerOptions = {}): Promise<GitServer> {
  const root = await mkdtemp(join(tmpdir(), "git-server-"));
  const callers: (string | undefined)[] = [];
  const server = createServer((request, reply) => {
    callers.push(request.headers.authorization);
    if (options.answer?.(request, reply)) return;
    if (isRefused(request, options)) reply.writeHead(401, { "www-authenticate": "Basic" }).end();
    else backend(request, reply, { root, protocol: options.protocol });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    callers,
    createRepository: (name, branches, more) => createRepository(join(root, `${name}.git`), branches, more),
    push: (name, branch) => push(join(root, `${name}.git`), branch),
    async stop() {
      server.closeAllConnections();
      server.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function createRepository(
  folder: string,
  branches: readonly string[],
  { objectFormat = "sha1" }: GitRepositoryOptions = {},
): Promise<string> {
  await mkdir(folder);
  await git(folder, ["init", "--quiet", "--bare", `--object-format=${objectFormat}`]);
  const tree = (await git(folder, ["hash-object", "-t", "tree", "-w", "/dev/null"])).trim();
  const commit = (await git(folder, ["commit-tree", "-m", "Begin", tree])).trim();
  for (const branch of branches) await git(folder, ["update-ref", `refs/heads/${branch}`, commit]);
  return commit;
}

async function push(folder: string, branch: string): Promise<string> {
  const head = `refs/heads/${branch}`;
  const commit = (await git(folder, ["commit-tree", "-m", "Go on", "-p", head, `${head}^{tree}`])).trim();
  await git(folder, ["update-ref", head, commit]);
  return commit;
}

function isRefused({ headers }: IncomingMessage, { credentials }: GitServerOptions): boolean {
  if (credentials === undefined) return false;
  return headers.authorization !== `Basic ${Buffer.from(credentials).toString("base64")}`;
}

/** https://git-scm.com/docs/git-http-backend: a CGI program, https://www.rfc-editor.org/rfc/rfc3875. */
function backend(
  request: IncomingMessage,
  reply: ServerResponse,
  { root, protocol }: { root: string; protocol: string | undefined },
): void {
  const { pathname, search } = new URL(request.url ?? "/", "http://git.test");
  const { headers } = request;
  const cgi = spawn("git", ["http-backend"], {
    env: {
      ...{ PATH: process.env.PATH, GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: "1", REMOTE_ADDR: "127.0.0.1" },
      ...{ GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
      ...{ REQUEST_METHOD: request.method, PATH_INFO: pathname, QUERY_STRING: search.slice(1) },
      ...{ CONTENT_TYPE: headers["content-type"], CONTENT_LENGTH: headers["content-length"] },
      GIT_PROTOCOL: protocol ?? String(headers["git-protocol"] ?? ""),
    },
  });
  // A client may go in the middle of its question, and git before its end: git ends with its input either way.
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
