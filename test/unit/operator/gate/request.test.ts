import { describe, expect, test } from "@jest/globals";
import { clientAddress, GATE_HEADER, intentOf, namedHost } from "../../../../operator/gate/request.ts";

const DOMAIN = "env.example.com";

describe("the host of a request", () => {
  test.each([
    ["shop.env.example.com", "shop.env.example.com", "shop"],
    ["SHOP.Env.Example.com:8443", "shop.env.example.com", "shop"],
    ["shop--api.env.example.com", "shop--api.env.example.com", "shop"],
    ["shop.env.example.com.", "shop.env.example.com", "shop"],
  ])("%s", (header, host, environment) => {
    expect(namedHost(header, DOMAIN)).toEqual({ host, environment });
  });

  test.each([
    undefined,
    "",
    "env.example.com",
    ".env.example.com",
    "a.b.env.example.com",
    "shop.env.example.com.evil.test",
    "evil.test",
    "shop.env.example.com@evil.test",
    "shop.env.example.com, evil.test",
    "shop.env.example.com:99999999",
    "[::1]:80",
    "127.0.0.1",
    "-shop.env.example.com",
    "shop-.env.example.com",
    "shop\u0000.env.example.com",
    "../shop.env.example.com",
    `${"a".repeat(300)}.env.example.com`,
  ])("none: %j", (header) => {
    expect(namedHost(header, DOMAIN)).toBeUndefined();
  });
});

describe("the intent of a request", () => {
  const html = { accept: "text/html,application/xhtml+xml" };
  test.each([
    ["a page of a browser", { method: "GET", target: "/", headers: html }, "page"],
    [
      "a page, with the fetch metadata of a browser",
      { method: "GET", target: "/", headers: { ...html, "sec-fetch-mode": "navigate" } },
      "page",
    ],
    [
      "a script that takes HTML",
      { method: "GET", target: "/", headers: { ...html, "sec-fetch-mode": "cors" } },
      "hold",
    ],
    ["a form", { method: "POST", target: "/", headers: html }, "hold"],
    ["a program", { method: "GET", target: "/v1?x=1", headers: { accept: "*/*", "user-agent": "curl/8.0" } }, "hold"],
    ["a preflight", { method: "OPTIONS", target: "/", headers: {} }, "hold"],
    ["HEAD", { method: "HEAD", target: "/", headers: html }, "quiet"],
    ["a crawler's first request", { method: "GET", target: "/robots.txt?x", headers: {} }, "quiet"],
    ["a browser's icon", { method: "GET", target: "/favicon.ico", headers: {} }, "quiet"],
    ["a monitor", { method: "GET", target: "/", headers: { ...html, "user-agent": "a Monitor" } }, "quiet"],
    [
      "our own prober",
      { method: "GET", target: "/", headers: { "user-agent": "ephemeral-environments-prober" } },
      "quiet",
    ],
    [
      "the page, which asks how far it is",
      { method: "GET", target: "/", headers: { [GATE_HEADER]: "status" } },
      "status",
    ],
    ["what the gate passed on", { method: "POST", target: "/", headers: { [GATE_HEADER]: "passed" } }, "passed"],
  ] as const)("%s", (_title, request, intent) => {
    expect(intentOf(request, (agent) => agent === "a Monitor")).toBe(intent);
  });
});

describe("the address of a client", () => {
  const forwarded = (text: string) => ({ "x-forwarded-for": text });
  test.each([
    ["no proxy is trusted", forwarded("1.1.1.1"), 0, "9.9.9.9"],
    ["the proxy in front says it", forwarded("1.1.1.1"), 1, "1.1.1.1"],
    ["what the client says before does not count", forwarded("6.6.6.6, 1.1.1.1"), 1, "1.1.1.1"],
    ["two proxies", forwarded("6.6.6.6, 1.1.1.1, 8.8.8.8"), 2, "1.1.1.1"],
    ["fewer proxies than trusted", {}, 2, "9.9.9.9"],
    ["an IPv6 client is its network", forwarded("2001:db8:1:2:3:4:5:6"), 1, "2001:db8:1:2"],
    ["an address that is none is short", forwarded("x".repeat(9999)), 1, "x".repeat(45)],
  ])("%s", (_title, headers, ...[hops, address]) => {
    expect(clientAddress(headers, "9.9.9.9", hops)).toBe(address);
  });
});
