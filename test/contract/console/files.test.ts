import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startApiService } from "../../support/http/api-service.ts";
import { type ConsoleService, startConsoleService } from "../../support/http/console-service.ts";
import { rawConnection } from "../../support/http/raw-connection.ts";

const SCRIPT = 'document.title = "Console";\n'.repeat(20);
const HTML = '<!doctype html><title>Console</title><script type="module" src="/console/assets/app-1a2b.js"></script>';
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

let folder: string;
let service: ConsoleService;
let empty: ConsoleService;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "clients-"));
  const dist = join(folder, "console/dist");
  await mkdir(join(dist, "assets"), { recursive: true });
  await mkdir(join(folder, "cli/dist"), { recursive: true });
  await writeFile(join(dist, "index.html"), HTML);
  await writeFile(join(dist, "icon.svg"), "<svg xmlns='http://www.w3.org/2000/svg'/>");
  await writeFile(join(dist, ".secret"), "secret");
  await writeFile(join(folder, "console/outside.js"), "secret");
  const script = join(dist, "assets/app-1a2b.js");
  await writeFile(script, SCRIPT);
  await writeFile(`${script}.br`, brotliCompressSync(SCRIPT));
  await writeFile(`${script}.gz`, gzipSync(SCRIPT));
  await writeFile(join(dist, "assets/plain-3c4d.css"), "body { margin: 0 }");
  await writeFile(join(folder, "cli/dist/eenv.mjs"), "#!/usr/bin/env node\n");
  service = await startConsoleService({ clientsFolder: folder });
  empty = await startConsoleService({ clientsFolder: join(folder, "none") });
});
afterAll(async () => {
  await Promise.all([service.stop(), empty.stop()]);
  await rm(folder, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${service.origin}${path}`, { redirect: "manual", headers });

describe("a page of the console", () => {
  test.each([
    "/console/",
    "/console/environments",
    "/console/environments/shop/logs",
    "/console/a.b",
    "/console/index.html",
  ])("is the one document at %s, under the strict policy and asked about each time", async (path) => {
    const page = await get(path);
    expect(page.status).toBe(200);
    expect(await page.text()).toBe(HTML);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": POLICY,
      "cache-control": "no-cache",
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "x-content-type-options": "nosniff",
    });
    expect(page.headers.get("set-cookie")).toBeNull();
    const again = await get(path, { "if-none-match": `${page.headers.get("etag")}`, "cache-control": "max-age=0" });
    expect(again.status).toBe(304);
  });

  test("is where the root leads browsers, and no program", async () => {
    const browser = await get("/", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    expect([browser.status, browser.headers.get("location")]).toEqual([303, "/console/"]);
    expect((await get("/", { accept: "*/*" })).status).toBe(404);
    const unslashed = await get("/console");
    expect([unslashed.status, unslashed.headers.get("location")]).toEqual([308, "/console/"]);
  });

  test("is only read", async () => {
    for (const path of ["/console/", "/console/assets/app-1a2b.js", "/cli"]) {
      const answer = await fetch(`${service.origin}${path}`, { method: "POST" });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    }
  });
});

describe("a file of the console", () => {
  test.each([
    ["br", "gzip, deflate, br, zstd", "br"],
    ["gzip", "gzip", "gzip"],
    ["no compression", "identity", null],
  ])("is sent with %s to who accepts '%s', for ever", async (_what, accepted, encoding) => {
    const file = await get("/console/assets/app-1a2b.js", { "accept-encoding": accepted });
    expect(await file.text()).toBe(SCRIPT);
    expect(file.headers.get("content-encoding")).toBe(encoding);
    expect(Object.fromEntries(file.headers)).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
      "content-security-policy": POLICY,
    });
  });

  test("that was not compressed is sent as it is; one without a hash is asked about", async () => {
    const style = await get("/console/assets/plain-3c4d.css", { "accept-encoding": "br" });
    expect([style.status, style.headers.get("content-encoding")]).toEqual([200, null]);
    const icon = await get("/console/icon.svg");
    expect([icon.headers.get("content-type"), icon.headers.get("cache-control")]).toEqual([
      "image/svg+xml",
      "no-cache",
    ]);
  });

  test.each([
    "/console/assets/absent-9z.js",
    "/console/assets/",
    "/console/assets/..%2f..%2foutside.js",
    "/console/assets/%2e%2e/%2e%2e/outside.js",
    "/console/..%2foutside.js",
    "/console/.secret",
    "/console/%2esecret",
    "/console/assets/app-1a2b.js%00.css",
  ])("never is %s", async (path) => {
    // Unchanged: fetch would resolve dots.
    const connection = rawConnection(
      service.origin,
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    await connection.closed();
    const { text } = connection.seen;
    expect(text).not.toContain("secret");
    expect(text).toMatch(/^HTTP\/1.1 (200|400|404) /);
    if (text.startsWith("HTTP/1.1 200")) expect(text).toContain(HTML);
  });

  test("that is missing is no page, so that an old page notices", async () => {
    const absent = await get("/console/assets/absent-9z.js");
    expect(absent.status).toBe(404);
    expect(absent.headers.get("cache-control")).toBe("no-store");
    expect(await absent.json()).toMatchObject({ detail: "Not found" });
  });
});

test("the command line is one file", async () => {
  const file = await get("/cli");
  expect(await file.text()).toBe("#!/usr/bin/env node\n");
  expect(Object.fromEntries(file.headers)).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "content-disposition": 'attachment; filename="eenv.mjs"',
    "cache-control": "no-cache",
  });
});

test("what is not built says so in a sentence, and the rest is served", async () => {
  const page = await fetch(`${empty.origin}/console/`);
  expect(page.status).toBe(404);
  expect(await page.json()).toMatchObject({ detail: "The web console is not built here: `make clients` builds it" });
  const cli = await fetch(`${empty.origin}/cli`);
  expect([cli.status, cli.headers.get("content-disposition")]).toEqual([404, null]);
  expect(await cli.json()).toMatchObject({ detail: "The command line is not built here: `make clients` builds it" });
  expect((await fetch(`${empty.origin}/api/v2/health`)).status).toBe(200);
});

test("programs learn the console's address", async () => {
  const { data } = (await (await get("/api/v2/auth/login-options")).json()) as { data: { console_url: string } };
  expect(data.console_url).toBe(`${service.origin}/console/`);
});

test("the console, the command line and how to log in have one budget, which is no other's", async () => {
  const former = service.api;
  await service.replace({ clientsFolder: folder, limits: { pagesPerMinute: 7, unauthenticatedPerMinute: 1 } });
  const html = { accept: "text/html" };
  const foreign = { "sec-fetch-site": "same-site" };
  const seen = [
    await get("/", html),
    await get("/console/"),
    await get("/console/assets/plain-3c4d.css"),
    await get("/cli"),
    await get("/console/auth/session"),
    await get("/console/api/v2/environments", foreign),
    await get("/api/v2/auth/login-options"),
    await get("/console/"),
    await get("/cli"),
    await get("/", html),
    await get("/console/auth/login"),
    await get("/console/api/v2/environments", foreign),
    await get("/api/environments"),
  ];
  expect(seen.map(({ status }) => status)).toEqual([303, 200, 200, 200, 403, 403, 200, 429, 429, 429, 429, 429, 401]);
  expect(seen[0]?.headers.get("x-ratelimit-limit")).toBe("7");
  service.serveFrom(former);
});

test("an installation without a console has none of its paths", async () => {
  const { http, stop } = await startApiService();
  for (const path of ["/", "/console", "/console/", "/console/auth/login", "/console/api/v2/health"]) {
    expect((await http.get(path).set("accept", "text/html")).status).toBe(404);
  }
  await stop();
});
