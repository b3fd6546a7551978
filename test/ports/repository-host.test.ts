import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../crds/sensitive.ts";
import { gitRepositoryHost } from "../../operator/adapters/git/repository-host.ts";
import { CredentialRejected, RepositoryHostUnavailable } from "../../operator/ports/repository-host.ts";
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
