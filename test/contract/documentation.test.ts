import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import supertest from "supertest";
import { openApiDocument } from "../../api/openapi/document.ts";
import { listRoutes } from "../../api/routes.ts";
import { type ApiService, startApiService } from "../support/http/api-service.ts";

let service: ApiService;

beforeEach(async () => {
  service = await startApiService();
});
afterEach(() => service.stop());

/** A browser requests an icon, and gets 404, unless the page declares none. */
const NO_ICON = "data:,";

describe("the documentation", () => {
  test("is the checked-in document, in the version of the contract and not of the release", async () => {
    const served = (await service.http.get("/openapi.json")).body;
    const kept = JSON.parse(readFileSync(new URL("../../api/openapi.json", import.meta.url), "utf8"));
    expect(served).toEqual(kept);
    expect(served).toEqual(JSON.parse(JSON.stringify(openApiDocument(listRoutes()))));
    expect(served.info.version).toBe("1.0.0");
  });

  test.each(["", "/some/prefix"])("works as it is below %j, served there by an ingress", async (prefix) => {
    const http = supertest((request: IncomingMessage, response: ServerResponse) => {
      if (!request.url?.startsWith(`${prefix}/`)) return void response.writeHead(404).end();
      request.url = request.url.slice(prefix.length);
      service.app(request, response);
    });
    const followed = async (link: string, from: string) => {
      const { pathname } = new URL(link, `https://host.test${from}`);
      const reply = await http.get(pathname);
      expect({ link, from, status: reply.status }).toEqual({ link, from, status: 200 });
      return { pathname, reply };
    };
    const landing = async (requested: string) => {
      const { status, headers } = await http.get(requested);
      return status === 308 ? new URL(headers.location ?? "", `https://host.test${requested}`).pathname : requested;
    };
    expect(await landing(`${prefix}/openapi.json/`)).toBe(`${prefix}/openapi.json`);
    for (const path of ["/docs", "/docs/", "/redoc", "/redoc/"]) {
      const page = await landing(`${prefix}${path}`);
      const links = [...(await http.get(page)).text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => link ?? "");
      const scripts = links.filter((link) => link !== NO_ICON);
      for (const link of scripts) await followed(link, page);
      const start = await followed(scripts.find((link) => link.endsWith("start.js")) ?? "", page);
      const [, named = ""] = /new URL\("([^"]+)", location\)/.exec(start.reply.text) ?? [];
      const document = await followed(named, page);
      const [{ url: server }] = document.reply.body.servers;
      // A path is appended unchanged to the server's address: https://spec.openapis.org/oas/v3.1.1.html#server-object.
      expect((await followed(`${server}/api/health`, document.pathname)).reply.body).toMatchObject({
        status: "healthy",
      });
    }
  });

  test.each(["/docs", "/redoc"])("%s loads everything from here, and nothing that stands in the page", async (path) => {
    const page = await service.http.get(path);
    expect(page.status).toBe(200);
    const policy = page.headers["content-security-policy"] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const loaded = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? "");
    expect(loaded.length).toBeGreaterThan(1);
    expect(page.text).not.toMatch(/<script>|<script[^>]*>[^<]|style=/);
  });

  test.each([
    ["Range", "bytes=99999999-"],
    ["If-Match", '"x"'],
    ["If-Unmodified-Since", "Mon, 01 Jan 2001 00:00:00 GMT"],
  ])("answers whole whatever %s says, and logs no fault", async (header, value) => {
    for (const path of ["/docs/swagger-ui.css", "/redoc/redoc.standalone.js", "/docs"]) {
      const reply = await service.http.get(path).set(header, value);
      expect({ path, status: reply.status }).toEqual({ path, status: 200 });
    }
    expect(service.log.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("removes the parts of Redoc's script that the policy would block", async () => {
    const script = (await service.http.get("/redoc/redoc.standalone.js")).text;
    expect(script).not.toContain("cdn.redoc.ly");
    expect(script).toContain('r.nc=document.getElementById("redoc").dataset.nonce');
  });

  test("gives Redoc another nonce each time, in page and policy alike", async () => {
    const nonces = new Set<string>();
    for (const page of [await service.http.get("/redoc"), await service.http.get("/redoc")]) {
      const nonce = /data-nonce="([^"]+)"/.exec(page.text)?.[1] ?? "";
      expect(page.headers["content-security-policy"]).toContain(`'nonce-${nonce}'`);
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(2);
  });
});
