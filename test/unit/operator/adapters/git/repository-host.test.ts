import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import { gitRepositoryHost } from "../../../../../operator/adapters/git/repository-host.ts";
import { CredentialRejected, RepositoryHostUnavailable } from "../../../../../operator/ports/repository-host.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const ADVERTISED = "application/x-git-upload-pack-advertisement";

type Answer = (reply: ServerResponse) => void;

let server: Server;
let host: ReturnType<typeof gitRepositoryHost>;
let discovery: Answer;
let branches: Answer;
let requested: string[];
/** Authorizations of the requests; none is an empty text. */
let authorized: string[];

beforeEach(async () => {
  discovery = (reply) => reply.writeHead(200, { "content-type": ADVERTISED }).end(lines("version 2\n", "ls-refs\n"));
  branches = (reply) => reply.end(lines(`${COMMIT} refs/heads/main\n`));
  requested = [];
  authorized = [];
  server = createServer((request, reply) => {
    requested.push(`${request.method} ${request.url}`);
    authorized.push(request.headers.authorization ?? "");
    request.resume().on("end", () => (request.method === "GET" ? discovery : branches)(reply));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  host = gitRepositoryHost();
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await host.close();
});

function lines(...payloads: string[]): string {
  return `${payloads.map(packet).join("")}0000`;
}

function packet(payload: string): string {
  return (payload.length + 4).toString(16).padStart(4, "0") + payload;
}

function cloneUrl(): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/team/shop.git`;
}

const CREDENTIAL = "reader:s3cret/wörd";
const BASIC = Buffer.from(CREDENTIAL).toString("base64");

/** Expects no form of the credential in the error. */
async function refusal(
  url = cloneUrl(),
  credential: Sensitive | undefined = new Sensitive(CREDENTIAL),
): Promise<Error> {
  const answer = await refused(url, credential);
  expect(answer).toBeInstanceOf(RepositoryHostUnavailable);
  return answer;
}

async function refused(url: string, credential: Sensitive): Promise<Error> {
  const answer = await host.head(url, "main", credential).catch((error: unknown) => error);
  for (const form of ["s3cret", BASIC]) expect(inspect(answer, { depth: 9, showHidden: true })).not.toContain(form);
  return answer as Error;
}

describe("a host that keeps to the protocol", () => {
  test("answers the head of exactly the requested branch", async () => {
    branches = (reply) => reply.end(lines(`${"f".repeat(40)} refs/heads/main-2\n`, `${COMMIT} refs/heads/main\n`));
    expect(await host.head(cloneUrl(), "main")).toBe(COMMIT);
  });

  test("may name commits by SHA-256", async () => {
    branches = (reply) => reply.end(lines(`${"a".repeat(64)} refs/heads/main\n`));
    expect(await host.head(cloneUrl(), "main")).toBe("a".repeat(64));
  });

  test("has no such branch only when its whole answer says so", async () => {
    branches = (reply) => reply.end(lines());
    expect(await host.head(cloneUrl(), "main")).toBeUndefined();
  });

  test("is shown the credential with every question, and nothing where there is none", async () => {
    expect(await host.head(cloneUrl(), "main", new Sensitive(CREDENTIAL))).toBe(COMMIT);
    expect(authorized).toEqual([`Basic ${BASIC}`, `Basic ${BASIC}`]);
    expect(await host.head(cloneUrl(), "main", new Sensitive(CREDENTIAL))).toBe(COMMIT);
    expect(authorized.slice(2)).toEqual([`Basic ${BASIC}`]);
    expect(await host.head(cloneUrl(), "main")).toBe(COMMIT);
    expect(authorized.slice(3)).toEqual([""]);
  });

  test("may speak the older protocol, which sends all refs at once", async () => {
    const refs = lines(`${COMMIT} HEAD\0agent=old\n`, `${COMMIT} refs/heads/main\n`);
    discovery = (reply) =>
      reply.writeHead(200, { "content-type": ADVERTISED }).end(lines("# service=git-upload-pack\n") + refs);
    expect(await host.head(cloneUrl(), "main")).toBe(COMMIT);
  });
});

describe("a host that breaks, stalls or lies is unavailable, never without the branch", () => {
  test.each<{ name: string; given: Answer; expected: RegExp }>([
    {
      name: "the connection is cut within the answer",
      given: (reply) => {
        reply.writeHead(200, { "content-length": "4096" });
        reply.write("003d", () => reply.destroy());
      },
      expected: /UND_ERR_SOCKET/,
    },
    {
      name: "the answer ends between two packets",
      given: (reply) => reply.end(packet(`${COMMIT} refs/heads/other\n`)),
      expected: /ends too early/,
    },
    { name: "the answer ends within a packet", given: (reply) => reply.end("003d0123"), expected: /ends too early/ },
    { name: "the answer is empty", given: (reply) => reply.end(), expected: /ends too early/ },
    { name: "the answer is no packets", given: (reply) => reply.end("<html>"), expected: /not git's protocol/ },
    {
      name: "the commit is no commit",
      given: (reply) => reply.end(lines("latest refs/heads/main\n")),
      expected: /not a commit/,
    },
    {
      name: "the commit is missing",
      given: (reply) => reply.end(lines(" refs/heads/main\n")),
      expected: /not a commit/,
    },
    {
      name: "the host says that it failed",
      given: (reply) => reply.end(lines("ERR the repository is being moved\n")),
      expected: /refuses/,
    },
    { name: "the host answers an error", given: (reply) => reply.writeHead(503).end(), expected: /answered 503/ },
  ])("$name", async ({ given, expected }) => {
    branches = given;
    expect((await refusal()).message).toMatch(expected);
  });

  test("the answer never ends", async () => {
    branches = (reply) => {
      const chunk = packet(`${COMMIT} refs/heads/other\n`).repeat(4_096);
      const more = () => {
        while (reply.write(chunk)) if (reply.destroyed) return;
      };
      reply.on("drain", more);
      more();
    };
    expect((await refusal()).message).toMatch(/longer than 4 MiB/);
  });

  test("the answer stalls", async () => {
    branches = (reply) => reply.writeHead(200, { "content-length": "4096" }).write("003d");
    host = gitRepositoryHost({ deadlineMs: 200 });
    expect((await refusal()).message).toMatch(/no answer within 0\.2 s/);
  });

  test("a redirect is an answer, and is not followed", async () => {
    discovery = (reply) => reply.writeHead(302, { location: "/elsewhere" }).end();
    expect((await refusal()).message).toMatch(/answered 302/);
    expect(requested).toEqual(["GET /team/shop.git/info/refs?service=git-upload-pack"]);
  });

  test("a page of another kind is named as what it is", async () => {
    discovery = (reply) => reply.writeHead(200, { "content-type": "text/html" }).end("<html>please sign in</html>");
    expect((await refusal()).message).toMatch(/not git's protocol/);
  });

  test.each([401, 403])("%d says whether a credential was sent, and what to do", async (status) => {
    discovery = (reply) => reply.writeHead(status, { "www-authenticate": "Basic" }).end();
    const rejection = await refused(cloneUrl(), new Sensitive(CREDENTIAL));
    expect(rejection).toBeInstanceOf(CredentialRejected);
    expect(rejection.message).toBe(
      `${cloneUrl()} rejects the credential that spec.credentialsRef names (it answered ${status}): renew it in the secret manager, or let it read this repository, then reconcile`,
    );
    const withoutAny = await host.head(cloneUrl(), "main").catch((error: unknown) => error);
    expect(withoutAny).toBeInstanceOf(RepositoryHostUnavailable);
    expect((withoutAny as Error).message).toBe(
      `${cloneUrl()} can't be asked: it answered ${status}, and was sent no credential: a repository that not everybody may read needs spec.credentialsRef`,
    );
    // Each request was sent once: a refusal is not retried.
    expect(authorized).toEqual([`Basic ${BASIC}`, ""]);
  });

  test.each([404, 407, 429, 503])("%d is no word about the credential", async (status) => {
    discovery = (reply) => reply.writeHead(status).end();
    expect((await refusal()).message).toBe(`${cloneUrl()} can't be asked: it answered ${status}`);
  });

  test("a credential may be rejected when the branches are asked for", async () => {
    branches = (reply) => reply.writeHead(403).end();
    expect(await refused(cloneUrl(), new Sensitive(CREDENTIAL))).toBeInstanceOf(CredentialRejected);
  });

  test("a clone URL that is none is said, without its text", async () => {
    expect((await refusal("http://reader:s3cret@[")).message).toBe("the cloneUrl is not a valid URL");
  });

  test.each(["reader:s3cret@", "s3cret@"])(
    "a clone URL with %s in it asks no host, and is not repeated",
    async (login) => {
      const { message } = await refusal(cloneUrl().replace("//", `//${login}`));
      expect(message).toBe("the cloneUrl holds credentials: name them by spec.credentialsRef instead");
      expect(requested).toEqual([]);
    },
  );

  test.each(["?@", "#@", "?a:b@"])("a clone URL that hides another host behind %s asks no host", async (trick) => {
    const { host } = new URL(cloneUrl());
    for (const url of [
      `http://${host}${trick}127.0.0.1:1/team/shop.git`,
      `http://127.0.0.1:1${trick}${host}/shop.git`,
    ]) {
      expect((await refusal(url)).message).toMatch(/has a query or a fragment/);
    }
    expect(requested).toEqual([]);
  });

  test("a credential is sent over no plain connection to another machine", async () => {
    const { message } = await refusal("http://git.test/shop.git");
    expect(message).toMatch(/credentials are sent by https only/);
  });
});

describe("a host that limits its calls", () => {
  test.each([
    ["for as long as it wants", { "retry-after": "120" }, 120],
    ["for a minute, where it does not say", {}, 60],
    ["for an hour at most", { "retry-after": "86400" }, 3_600],
  ])("is left alone %s, with all its repositories", async (_, headers, seconds) => {
    const clock = new TestClock();
    const limited = gitRepositoryHost({ clock });
    discovery = (reply) => reply.writeHead(429, headers).end();
    const other = cloneUrl().replace("shop", "other");
    await expect(limited.head(cloneUrl(), "main", undefined)).rejects.toThrow(/429/);
    clock.advance((seconds - 1) * 1_000);
    await expect(limited.head(other, "main", undefined)).rejects.toThrow(
      `${other} can't be asked: it limits its calls`,
    );
    expect(requested).toHaveLength(1);
    clock.advance(1_000);
    await expect(limited.head(other, "main", undefined)).rejects.toThrow(/429/);
    expect(requested).toHaveLength(2);
    await limited.close();
  });
});
