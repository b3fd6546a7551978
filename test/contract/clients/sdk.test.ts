import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Client, type ClientOptions, createClient, PlatformError } from "../../../clients/sdk/index.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

const NEW = { environment_name: "shop-test", backend_repo: "shop-api", backend_branch: "main" } as const;

describe("the typed client", () => {
  let service: ApiService;
  let server: Server;
  let url: string;
  let sent: Request[];

  beforeEach(async () => {
    service = await startApiService();
    server = createServer(service.app).listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    sent = [];
  });
  afterEach(async () => {
    service.stopping.abort();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    await service.stop();
  });

  /** A client with the given faulty transport. */
  function clientOf(person: Person, way: ClientOptions["fetch"] = (request) => fetch(request)): Client {
    return createClient({
      url,
      token: async () => (await service.bearer(person)).replace("Bearer ", ""),
      fetch(request) {
        sent.push(request);
        return way(request);
      },
      retries: { longestWaitMs: 2_000 },
    });
  }

  const names = async () => (await service.environments.list()).map(({ metadata }) => metadata.name);

  test("answers what the envelope holds", async () => {
    const client = clientOf("developer");
    const { environment } = await client.call("POST /api/v2/environments", { body: NEW });
    expect(environment).toMatchObject({ name: "shop-test", status: "creating" });
    const found = await client.call("GET /api/v2/environments/{environment_id}", {
      path: { environment_id: environment.id },
    });
    expect(found.name).toBe("shop-test");
    const listed = await client.call("GET /api/v2/environments", { query: { limit: 1 } });
    expect(listed.environments.map(({ name }) => name)).toEqual(["shop-test"]);
  });

  test("throws the platform's refusal, with its code and the id of the request", async () => {
    const requested = clientOf("developer").call("GET /api/v2/environments/{environment_id}", {
      path: { environment_id: "../other" },
    });
    const error = await requested.catch((thrown: unknown) => thrown as PlatformError);
    expect(error).toBeInstanceOf(PlatformError);
    expect(error).toMatchObject({ status: 404, code: "ENV_NOT_FOUND", requestId: expect.stringMatching(/.{8,}/) });
    expect(sent).toHaveLength(1);
  });

  test("asks again when the answer is lost, and nothing is made twice", async () => {
    const client = clientOf("developer", async (request) => {
      const response = await fetch(request);
      if (sent.length > 1) return response;
      await response.body?.cancel();
      throw new TypeError("fetch failed");
    });
    const { environment } = await client.call("POST /api/v2/environments", { body: NEW });
    expect(environment.name).toBe("shop-test");
    expect(await names()).toEqual(["shop-test"]);
    expect(new Set(sent.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
    expect(sent).toHaveLength(2);
  });

  test("does not ask again for what might be done twice", async () => {
    const client = clientOf("maintainer", async () => {
      throw new TypeError("fetch failed");
    });
    await expect(client.call("POST /api/v2/tokens", { body: { name: "ci", scopes: ["ENV_READ"] } })).rejects.toThrow(
      "fetch failed",
    );
    expect(sent).toHaveLength(1);
  });

  describe("a request that came too often", () => {
    const busy = (seconds: string) => async (request: Request) =>
      sent.length > 1
        ? fetch(request)
        : Response.json({ detail: "Too many requests" }, { status: 429, headers: { "retry-after": seconds } });

    test("is sent again when the platform wants it", async () => {
      await clientOf("developer", busy("1")).call("GET /api/v2/environments");
      expect(sent).toHaveLength(2);
    });

    test("is refused when that is too long", async () => {
      const refused = clientOf("developer", busy("3")).call("GET /api/v2/environments");
      await expect(refused).rejects.toMatchObject({ status: 429, retryAfterSeconds: 3 });
      expect(sent).toHaveLength(1);
    });

    test("waits, and no longer than for the signal", async () => {
      const ended = new AbortController();
      const reason = new Error("not needed any more");
      const client = createClient({
        url,
        fetch(request) {
          sent.push(request);
          return busy("60")(request);
        },
      });
      const waiting = client.call("GET /api/v2/environments", { signal: ended.signal });
      const failure = waiting.catch((error: unknown) => error);
      await until(() => sent.length === 1, { what: "the first request" });
      // Without a wait the next one would be sent before this answer.
      await fetch(`${url}/api/v2/status`);
      ended.abort(reason);
      expect(await failure).toBe(reason);
      expect(sent).toHaveLength(1);
    });
  });

  test("says what answered when it was not the platform", async () => {
    const requested = createClient({
      url,
      retries: { attempts: 1 },
      fetch: async () => new Response("<html>", { status: 502, statusText: "Bad Gateway" }),
    });
    await expect(requested.call("GET /api/v2/status")).rejects.toThrow("answered 502 Bad Gateway");
  });

  test("follows a log over a connection that breaks, without a gap, until the environment is gone", async () => {
    const made = await service.environments.create("shop", {
      backend: { repository: "shop-api", branch: "main" },
      access: { groups: ["shop"] },
    });
    service.podLogs.holdFollowers();
    const write = (text: string, at: string) => service.podLogs.write("shop", "backend", { at: new Date(at), text });
    write("one", "2026-06-01T12:00:00.000Z");
    const seen: string[] = [];
    const following = (async () => {
      const input = { path: { environment_id: "shop", component: "backend" } } as const;
      const route = "GET /api/v2/environments/{environment_id}/logs/{component}/stream";
      for await (const { data } of clientOf("viewer").follow(route, input)) seen.push(data.message);
    })();
    await until(() => seen.length === 1, { what: "the first line" });
    server.closeAllConnections();
    write("two", "2026-06-01T12:00:01.000Z");
    await until(() => seen.length === 2, { what: "the line that was written meanwhile", deadlineMs: 10_000 });
    await service.environments.remove(made);
    service.environments.finishRemoval("shop");
    server.closeAllConnections();
    await following;
    expect(seen).toEqual(["one", "two"]);
  }, 30_000);

  test("follows a log from where another client left it, and says when the platform answers", async () => {
    await service.environments.create("shop", {
      backend: { repository: "shop-api", branch: "main" },
      access: { groups: ["shop"] },
    });
    service.podLogs.holdFollowers();
    for (const second of [0, 1, 2]) {
      const at = new Date(`2026-06-01T12:00:0${second}.000Z`);
      service.podLogs.write("shop", "backend", { at, text: `line ${second}` });
    }
    const route = "GET /api/v2/environments/{environment_id}/logs/{component}/stream";
    const leaving = new AbortController();
    const read = async (count: number, after?: string) => {
      let answers = 0;
      const input = {
        path: { environment_id: "shop", component: "backend" } as const,
        signal: leaving.signal,
        ...(after !== undefined && { after }),
        opened: () => {
          answers += 1;
        },
      };
      const events = clientOf("viewer").follow(route, input);
      const seen: { id: string | undefined; message: string }[] = [];
      while (seen.length < count) {
        const { value } = await events.next();
        if (value !== undefined) seen.push({ id: value.id, message: value.data.message });
      }
      expect(answers).toBe(1);
      return seen;
    };
    const [first] = await read(1);
    const rest = await read(2, first?.id);
    leaving.abort();
    expect(rest.map(({ message }) => message)).toEqual(["line 1", "line 2"]);
  });
});
