import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { httpBackend } from "../../../deploy/local/git/http-backend.ts";
import { git } from "../../../deploy/local/git/repositories.ts";

/** A git host on loopback: the real `git http-backend` behind node:http. */
export interface GitServer {
  readonly address: string;
  /** The header `Authorization` of each request; `undefined`: none. */
  readonly callers: readonly (string | undefined)[];
  /** Makes a repository with one empty commit at the head of each branch; answers the common commit. */
  createRepository(name: string, branches: readonly string[], options?: GitRepositoryOptions): Promise<string>;
  /** Adds an empty commit to the branch; answers it. */
  push(name: string, branch: string): Promise<string>;
  /** Adds a commit with exactly these files to the branch, each a path and its content; answers it. */
  pushFiles(name: string, branch: string, files: Readonly<Record<string, string | Buffer>>): Promise<string>;
  deleteRepository(name: string): Promise<void>;
  stop(): Promise<void>;
}

interface GitRepositoryOptions {
  readonly objectFormat?: "sha1" | "sha256";
}

export interface GitServerOptions {
  /** `user:password`; other requests are answered 401. Absent: readable by everyone. */
  readonly credentials?: string;
  /** Replaces git's answer when it returns true. */
  readonly answer?: (request: IncomingMessage, reply: ServerResponse) => boolean;
  /** Overrides the protocol that the client requests. */
  readonly protocol?: string;
  /** False: it gives whole repositories alone. */
  readonly givesFiles?: boolean;
}

/** Serves the repositories of a new folder on a free port. */
export async function startGitServer(options: GitServerOptions = {}): Promise<GitServer> {
  const root = await mkdtemp(join(tmpdir(), "git-server-"));
  const callers: (string | undefined)[] = [];
  const server = createServer((request, reply) => {
    callers.push(request.headers.authorization);
    if (options.answer?.(request, reply)) return;
    if (isRefused(request, options)) reply.writeHead(401, { "www-authenticate": "Basic" }).end();
    else void httpBackend(request, reply, { root, ...options, log: () => undefined });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    callers,
    createRepository: (name, branches, more) => createRepository(join(root, `${name}.git`), branches, more),
    push: (name, branch) => push(join(root, `${name}.git`), branch),
    pushFiles: (name, branch, files) => pushFiles(join(root, `${name}.git`), branch, files),
    deleteRepository: (name) => rm(join(root, `${name}.git`), { recursive: true }),
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

async function pushFiles(
  folder: string,
  branch: string,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<string> {
  const head = `refs/heads/${branch}`;
  const index = { GIT_INDEX_FILE: join(folder, `index-of-${branch.replaceAll("/", "-")}`) };
  await rm(index.GIT_INDEX_FILE, { force: true });
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, "content");
    await writeFile(file, content);
    const blob = (await git(folder, ["hash-object", "-w", file])).trim();
    await git(folder, ["update-index", "--add", "--cacheinfo", `100644,${blob},${path}`], { env: index });
  }
  const tree = (await git(folder, ["write-tree"], { env: index })).trim();
  const commit = (await git(folder, ["commit-tree", "-m", "Add files", "-p", head, tree])).trim();
  await git(folder, ["update-ref", head, commit]);
  return commit;
}

function isRefused({ headers }: IncomingMessage, { credentials }: GitServerOptions): boolean {
  if (credentials === undefined) return false;
  return headers.authorization !== `Basic ${Buffer.from(credentials).toString("base64")}`;
}
