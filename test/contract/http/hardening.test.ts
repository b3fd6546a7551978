import { describe, expect, test } from "@jest/globals";
import { expectProblem } from "../../support/http/api-promises.ts";
import { apiByBytes, head, JSON_TYPE } from "./api-by-bytes.ts";

const api = apiByBytes();
const { raw, post } = api;

describe("a request id (abuse 51)", () => {
  test.each([
    ["the escapes of a terminal", "\u001b[31mred"],
    ["a tab", "a\tb"],
    ["bytes beyond ASCII", "\u00e9\u00ff"],
    ["ten thousand characters", "x".repeat(10_000)],
  ])("with %s is replaced, or the request refused, and never logged", async (_case, id) => {
    const before = api.service.log.length;
    const connection = raw(head("GET /nowhere", `X-Request-ID: ${id}`, "Connection: close"));
    expect([400, 404]).toContain(await connection.status());
    await connection.closed();
    expect(connection.seen.text).not.toContain(id);
    expect(JSON.stringify(api.service.log.slice(before))).not.toContain(JSON.stringify(id).slice(1, -1));
  });

  test("that tries to bring a header of its own brings none", async () => {
    const connection = raw(head("GET /nowhere", "X-Request-ID: a\r\nX-Forged: b", "Connection: close"));
    expect(await connection.status()).toBe(404);
    await connection.closed();
    expect(connection.seen.text).not.toMatch(/forged/i);
  });
});

describe("a request that two readers would read in two ways (abuse 63)", () => {
  test.each([
    ["a length and chunks", ["Content-Length: 4", "Transfer-Encoding: chunked"]],
    ["two lengths", ["Content-Length: 4", "Content-Length: 5"]],
    ["a length that is none", ["Content-Length: +4"]],
    ["chunks that are not the last", ["Transfer-Encoding: chunked, identity"]],
    ["an unknown transfer", ["Transfer-Encoding: xchunked"]],
    ["a space before the colon", ["Transfer-Encoding : chunked"]],
    ["a folded line", ["X-Folded: a", " b", "Content-Length: 0"]],
    ["a bare line feed", ["X-Bare: a\nContent-Length: 0"]],
    ["a NUL", ["X-Nul: a\u0000b"]],
  ])("with %s is refused, and the connection closed", async (_case, lines) => {
    const connection = raw(`${post(JSON_TYPE, ...lines)}GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(await connection.status()).toBe(400);
    await connection.closed();
    expect(connection.seen.text).not.toMatch(/ 200 /);
  });

  test.each([
    ["hosts", ["Host: y"]],
    ["types", [JSON_TYPE, "Content-Type: application/x-www-form-urlencoded"]],
  ])("with two %s is refused, and counted", async (_case, lines) => {
    const connection = raw(post(...lines, "Content-Length: 0"));
    expect(await connection.status()).toBe(400);
    expect(connection.seen.text).toMatch(/^x-ratelimit-remaining: \d+\r$/im);
  });

  test("whose head is too long is refused", async () => {
    const connection = raw(head("GET /api/health", `X-Long: ${"x".repeat(20_000)}`));
    expect(await connection.status()).toBe(431);
    await connection.closed();
  });
});

describe("a path written in another way (abuse 67)", () => {
  test.each([
    "GET //api/health",
    "GET /api//health",
    "GET /api/../api/health",
    "GET /docs/../api/health",
    "GET /api/./health",
    "GET /api/%2e%2e/api/health",
    "GET /api/%2e/health",
    "GET /api%2fhealth",
    "GET /API/health",
    "GET /api/health//",
    "GET /api/environments//logs/backend",
    "GET /api/health%00",
    "GET /api/health;x=1",
    "GET \\api\\health",
  ])("%s is not that path", async (line) => {
    const connection = raw(head(line, "Connection: close"));
    expect([400, 404]).toContain(await connection.status());
  });

  test.each(["TRACE /api/health", "TRACK /api/health", "CONNECT /api/health", "PROPFIND /api/health", "BREW /"])(
    "%s does nothing",
    async (line) => {
      const connection = raw(head(line, "Connection: close"));
      await connection.closed();
      expect(connection.seen.text).not.toMatch(/^HTTP\/1\.1 2/);
    },
  );

  test.each(["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])("%s overrides nothing", async (name) => {
    const reply = await api.service.http
      .get("/api/environments/none")
      .set({ authorization: api.authorization, [name]: "DELETE" });
    expectProblem(reply, 404, "Environment not found", "ENV_NOT_FOUND");
    const asField = await api.service.http
      .post("/api/environments?_method=DELETE")
      .set({ authorization: api.authorization })
      .send({});
    expect(asField.status).toBe(400);
  });
});

describe("a page of another site (abuse 86)", () => {
  const origin = "https://evil.example";

  test("that sends a form with its visitor's cookies is not authenticated", async () => {
    const cookie = `authorization=${api.authorization}; session=x`;
    const form = "environment_name=taken-over&backend_repo=shop-api&backend_branch=main";
    const reply = await api.service.http.post("/api/environments").set({ origin, cookie }).type("form").send(form);
    expectProblem(reply, 401, "Authentication required");
  });

  test("gets no leave to read or to ask", async () => {
    const requested = {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization",
    };
    for (const reply of [
      await api.service.http.options("/api/environments").set(requested),
      await api.service.http.get("/api/environments").set({ origin, authorization: api.authorization }),
      await api.service.http.get("/openapi.json").set({ origin }),
    ]) {
      expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect(reply.headers["cross-origin-resource-policy"]).toBe("same-origin");
    }
  });

  test("finds none of its input in our pages", async () => {
    const script = "<script>alert(1)</script>";
    for (const path of ["/docs", "/redoc", "/nowhere", "/api/environments"]) {
      const reply = await api.service.http
        .get(`${path}?x=${encodeURIComponent(script)}`)
        .set({ "x-request-id": script });
      expect(reply.text).not.toContain(script);
    }
  });
});

test("a form or a query that is not UTF-8 is refused (abuse 46, 48)", async () => {
  const form = "environment_name=fine&backend_repo=shop-api&backend_branch=main";
  const post = (body: Buffer) =>
    api.service.http
      .post("/api/environments")
      .set({ authorization: api.authorization })
      .type("form")
      .serialize((raw) => raw)
      .send(body);
  expectProblem(await post(Buffer.from(`${form}%ff`)), 400, "A field is not valid UTF-8");
  expectProblem(await post(Buffer.concat([Buffer.from(form), Buffer.of(0xff)])), 400, "The body is not valid UTF-8");
  const search = (text: string) =>
    api.service.http.get(`/api/environments?search=${text}`).set({ authorization: api.authorization });
  expectProblem(await search("%c3%28"), 400, "A field is not valid UTF-8");
  for (const text of ["%ef%bf%bd", "%e2%82%ac", "100%"]) expect((await search(text)).status).toBe(200);
});
