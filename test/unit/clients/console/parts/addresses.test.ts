import { describe, expect, test } from "@jest/globals";
import { environmentPath, linkAddress, shortAddress } from "../../../../../clients/console/parts/addresses.ts";

describe("an address that an environment names", () => {
  test.each([
    "https://shop.env.example.test:18443/",
    "http://127.0.0.1:8080/",
    "http://localhost/a?b",
    "http://[::1]:80/",
  ])("becomes a link: %s", (address) => {
    expect(linkAddress(address)).toBe(new URL(address).href);
  });

  test.each([
    ["runs code", "javascript:alert(1)"],
    ["runs code, with spaces before", "  javascript:alert(1)"],
    ["holds its own document", "data:text/html,<script>alert(1)</script>"],
    ["is not encrypted", "http://shop.env.example.test/"],
    ["only begins like loopback", "http://127.0.0.1.example.test/"],
    ["only begins like loopback's name", "http://localhost.example.test/"],
    ["shows another host before an @", "https://shop.example.test@evil.test/"],
    ["is relative", "/console/auth/logout"],
    ["has no scheme", "//evil.test/"],
    ["is empty", ""],
  ])("is text alone where it %s", (_what, address) => {
    expect(linkAddress(address)).toBeUndefined();
  });

  test("is shown without what all have", () => {
    expect(shortAddress("https://shop.env.example.test:18443/")).toBe("shop.env.example.test:18443");
  });
});

test("a name can't leave its place in a path", () => {
  expect(environmentPath("../tokens?x", "logs")).toBe("/console/environments/..%2Ftokens%3Fx/logs");
});
