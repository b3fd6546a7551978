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
    { title: "no proxy is trusted", headers: forwarded("1.1.1.1"), hops: 0, address: "9.9.9.9" },
    { title: "the proxy in front says it", headers: forwarded("1.1.1.1"), hops: 1, address: "1.1.1.1" },
    { title: "what a client says does not count", headers: forwarded("6.6.6.6, 1.1.1.1"), hops: 1, address: "1.1.1.1" },
    { title: "two proxies", headers: forwarded("6.6.6.6, 1.1.1.1, 8.8.8.8"), hops: 2, address: "1.1.1.1" },
    { title: "fewer proxies than trusted", headers: {}, hops: 2, address: "9.9.9.9" },
    { title: "an IPv6 network", headers: forwarded("2001:db8:1:2:3:4:5:6"), hops: 1, address: "2001:db8:1:2" },
    { title: "a long text", headers: forwarded("x".repeat(9999)), hops: 1, address: "x".repeat(45) },
  ])("$title", ({ headers, hops, address }) => {
    expect(clientAddress(headers, "9.9.9.9", hops)).toBe(address);
  });
});
