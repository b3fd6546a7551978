import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../crds/sensitive.ts";
import { gitRepositoryHost } from "../../operator/adapters/git/repository-host.ts";
import { CredentialRejected, FileUnreadable, RepositoryHostUnavailable } from "../../operator/ports/repository-host.ts";
import { type GitServer, type GitServerOptions, startGitServer } from "../support/doubles/git-server.ts";

/** Making repositories runs git a dozen times. */
const MAKING_MS = 30_000;
/** Unusual names that git allows. */
const UNUSUAL = ["dependabot/npm_and_yarn/@types/node-22", "feature/a+b", "release#2", "größe/日本語", "a$&b'c;d%e"];
const host = gitRepositoryHost();
const servers: GitServer[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await host.close();
});

async function serve(options?: GitServerOptions): Promise<GitServer> {
  const server = await startGitServer(options);
  servers.push(server);
  return server;
}

async function refusal(url: string, requested = host): Promise<string> {
  const answer = await requested.head(url, "main").catch((error: unknown) => error);
  expect(answer).toBeInstanceOf(RepositoryHostUnavailable);
  return (answer as Error).message;
}

describe.each([
  ["the protocol that was asked for", undefined],
  ["its oldest protocol", "version=0"],
])("git, speaking %s", (_how, protocol) => {
  let url: (repository: string) => string;
  let commit: string;
  beforeAll(async () => {
    const server = await serve(protocol === undefined ? {} : { protocol });
    url = (repository) => `http://${server.address}/${repository}.git`;
    const plain = ["main", "feature/login", "release-2.0", "release-2.0.1"];
    commit = await server.createRepository("shop", [...plain, ...UNUSUAL]);
    await server.createRepository("modern", ["main"], { objectFormat: "sha256" });
  }, MAKING_MS);

  test.each(["main", "feature/login", "release-2.0", ...UNUSUAL])("tells the head of %s", async (branch) => {
    expect(await host.head(url("shop"), branch)).toBe(commit);
  });

  test.each(["absent", "mai", "release-2", "feature", "heads/main", "MAIN"])("has no branch %s", async (branch) => {
    expect(await host.head(url("shop"), branch)).toBeUndefined();
  });

  test("names commits by SHA-256 where the repository does", async () => {
    expect(await host.head(url("modern"), "main")).toMatch(/^[0-9a-f]{64}$/);
  });

  test("refuses for a repository that is absent: that is not a missing branch", async () => {
    expect(await refusal(url("absent"))).toMatch(/absent\.git can't be asked: it answered 404$/);
  });
});

describe("a repository whose head was read before", () => {
  /** The head, or the refusal, and the number of requests for it. */
  const read = async (server: GitServer, credential?: Sensitive) => {
    const before = server.callers.length;
    const head = await host.head(urlOf(server), "main", credential).catch((error: unknown) => error);
    return { head, requests: server.callers.length - before };
  };
  const urlOf = ({ address }: GitServer) => `http://${address}/shop.git`;
  const serveShop = async (options?: GitServerOptions) => {
    const server = await serve(options);
    await server.createRepository("shop", ["main"]);
    return server;
  };

  test("is asked in one request, and answers the head of now", async () => {
    const server = await serveShop();
    expect((await read(server)).requests).toBe(2);
    const head = await server.push("shop", "main");
    expect(await read(server)).toEqual({ head, requests: 1 });
  });

  test("is asked anew the next time where it was made anew, with another object format", async () => {
    const server = await serveShop();
    await read(server);
    await server.deleteRepository("shop");
    const head = await server.createRepository("shop", ["main"], { objectFormat: "sha256" });
    expect(await read(server)).toEqual({ head: expect.any(RepositoryHostUnavailable), requests: 1 });
    expect(await read(server)).toEqual({ head, requests: 2 });
    expect(await read(server)).toEqual({ head, requests: 1 });
  });

  test("is asked anew the next time where it is gone", async () => {
    const server = await serveShop();
    await read(server);
    await server.deleteRepository("shop");
    expect(await read(server)).toEqual({ head: expect.any(RepositoryHostUnavailable), requests: 1 });
    const head = await server.createRepository("shop", ["main"]);
    expect(await read(server)).toEqual({ head, requests: 2 });
  });

  test("is asked anew the next time where its host has cut the connection", async () => {
    let isCut = false;
    const server = await serveShop({
      answer({ socket }) {
        if (isCut) socket.destroy();
        return isCut;
      },
    });
    const { head } = await read(server);
    isCut = true;
    expect(await read(server)).toEqual({ head: expect.any(RepositoryHostUnavailable), requests: 1 });
    isCut = false;
    expect(await read(server)).toEqual({ head, requests: 2 });
  });

  test("is asked once with a credential that its host rejects: hosts lock accounts after too many", async () => {
    const server = await serveShop({ credentials: "reader:word" });
    await read(server, new Sensitive("reader:word"));
    const guess = new Sensitive("reader:guess");
    expect(await read(server, guess)).toEqual({ head: expect.any(CredentialRejected), requests: 1 });
  });

  test("is asked as at first each time where the host speaks git's oldest protocol, whose first answer is the list", async () => {
    const server = await serveShop({ protocol: "version=0" });
    await read(server);
    const head = await server.push("shop", "main");
    expect(await read(server)).toEqual({ head, requests: 1 });
  });
});

test("a repository without commits has no branch", async () => {
  const server = await serve();
  await server.createRepository("empty", []);
  expect(await host.head(`http://${server.address}/empty.git`, "main")).toBeUndefined();
});

describe("a repository that not everybody may read", () => {
  const credential = new Sensitive("reader:pass word/1:ü");
  let server: GitServer;
  let url: string;
  let commit: string;
  beforeAll(async () => {
    server = await serve({ credentials: credential.reveal() });
    url = `http://${server.address}/shop.git`;
    commit = await server.createRepository("shop", ["main"]);
  }, MAKING_MS);

  test("answers the head to a caller with the credential", async () => {
    expect(await host.head(url, "main", credential)).toBe(commit);
    expect(await host.head(url, "absent", credential)).toBeUndefined();
  });

  test("refuses others, and no message repeats what they brought", async () => {
    expect(await refusal(url)).toMatch(/it answered 401, and was sent no credential/);
    const guess = await host.head(url, "main", new Sensitive("reader:guess")).catch((error: unknown) => error);
    expect(guess).toBeInstanceOf(CredentialRejected);
    expect((guess as Error).message).toMatch(/rejects the credential .* \(it answered 401\): renew it/);
    expect((guess as Error).message).not.toMatch(/guess/);
  });
});

describe("a host that does not answer", () => {
  test("is unavailable after the deadline", async () => {
    const silent = await serve({ answer: () => true });
    const hasty = gitRepositoryHost({ deadlineMs: 200 });
    expect(await refusal(`http://${silent.address}/shop.git`, hasty)).toMatch(/no answer within 0\.2 s$/);
    await hasty.close();
  });

  test("without a listener is unavailable at once", async () => {
    const gone = await startGitServer();
    await gone.stop();
    expect(await refusal(`http://${gone.address}/shop.git`)).toMatch(/ECONNREFUSED$/);
  });

  test("but leads elsewhere is not followed, with a credential least of all", async () => {
    const elsewhere = await serve();
    await elsewhere.createRepository("shop", ["main"]);
    const leading = await serve({
      answer: ({ url }, reply) => {
        reply.writeHead(307, { location: `http://${elsewhere.address}${url}` }).end();
        return true;
      },
    });
    const url = `http://${leading.address}/shop.git`;
    expect(await refusal(url)).toMatch(/it answered 307$/);
    await expect(host.head(url, "main", new Sensitive("reader:word"))).rejects.toThrow(/it answered 307$/);
    expect(elsewhere.callers).toEqual([]);
  });
});

describe("a file of a commit", () => {
  const MIB = 1024 ** 2;
  const SEED = "INSERT INTO people VALUES ('Zoë');\n";
  const credential = new Sensitive("reader:word");
  let server: GitServer;
  let url: string;
  let commit: string;
  beforeAll(async () => {
    server = await serve({ credentials: credential.reveal() });
    url = `http://${server.address}/shop.git`;
    await server.createRepository("shop", ["main"]);
    commit = await server.pushFiles("shop", "main", {
      "seed/data.sql": SEED,
      "seed/binary.dump": randomBytes(MIB),
      "seed/empty.sql": "",
      "seed/large.dump": randomBytes(MIB + 1),
      "seed/huge.dump": randomBytes(5 * MIB),
      "seed/zeros.dump": Buffer.alloc(64 * MIB),
      "seed/stored.dump": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
      "top.sql": "SELECT 1;",
      // A folder that git would send as a difference to another one.
      ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`many/${at}.txt`, String(at)])),
    });
    await server.pushFiles("shop", "main", { "seed/data.sql": "changed" });
  }, MAKING_MS);

  const read = (path: string, at = commit) => host.file(url, { commit: at, path }, credential);

  test.each([
    ["seed/data.sql", SEED],
    ["seed/empty.sql", ""],
    ["top.sql", "SELECT 1;"],
    ["many/299.txt", "299"],
  ])("%s is what the commit has, not what the branch has now", async (path, content) => {
    expect((await read(path)).toString()).toBe(content);
  });

  test("may have 1 MiB", async () => {
    expect(await read("seed/binary.dump")).toHaveLength(MIB);
  });

  test.each([
    ["seed/absent.sql", "absent", "has no file 'seed/absent.sql'"],
    ["seed", "absent", "has no plain file at 'seed'"],
    ["top.sql/data.sql", "absent", "has no file 'top.sql/data.sql'"],
    ["seed/large.dump", "unsuitable", "has more than 1 MiB in 'seed/large.dump'"],
    ["seed/huge.dump", "unsuitable", "has more than 1 MiB in 'seed/huge.dump'"],
    ["seed/zeros.dump", "unsuitable", "has more than 1 MiB in 'seed/zeros.dump'"],
    ["seed/stored.dump", "unsuitable", "has 'seed/stored.dump' in Git LFS"],
  ])("%s is refused as %s", async (path, reason, message) => {
    const refused = await read(path).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(FileUnreadable);
    expect(refused).toMatchObject({ reason, message });
  });

  test("of a repository with SHA-256 is read as well", async () => {
    await server.createRepository("modern", ["main"], { objectFormat: "sha256" });
    const modern = await server.pushFiles("modern", "main", { "seed/data.sql": SEED });
    const place = `http://${server.address}/modern.git`;
    expect((await host.file(place, { commit: modern, path: "seed/data.sql" }, credential)).toString()).toBe(SEED);
  });

  test("of a commit that the host does not have leaves it unavailable: it may come", async () => {
    const refused = await read("seed/data.sql", "0".repeat(39) + 1).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RepositoryHostUnavailable);
  });

  test("needs the credential", async () => {
    const file = { commit, path: "seed/data.sql" };
    const guess = await host.file(url, file, new Sensitive("reader:guess")).catch((error: unknown) => error);
    expect(guess).toBeInstanceOf(CredentialRejected);
  });

  test.each([
    ["gives whole repositories alone", { givesFiles: false }],
    ["speaks git's oldest protocol", { protocol: "version=0" }],
  ])("of a host that %s is unsuitable", async (_how, options) => {
    const old = await serve(options);
    await old.createRepository("shop", ["main"]);
    const at = await old.pushFiles("shop", "main", { "data.sql": SEED });
    const refused = await host
      .file(`http://${old.address}/shop.git`, { commit: at, path: "data.sql" })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: "FileUnreadable", reason: "unsuitable" });
  });
});
