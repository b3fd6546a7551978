import { expect, test } from "@jest/globals";
import { Headers, Response } from "undici";
import { conditional, type Fetch } from "../../../../../operator/adapters/host-api/conditional-requests.ts";

/** A fetch with a tag for every answer, whose length is the last part of its address; and the requests. */
function host(most: number) {
  const requested: string[] = [];
  const fetch: Fetch = async (url, options) => {
    const isKnown = new Headers(options?.headers).has("if-none-match");
    requested.push(`${isKnown ? "changed? " : ""}${url}`);
    const text = "x".repeat(Number(url.split("/").at(-1)));
    return new Response(isKnown ? null : text, { status: isKnown ? 304 : 200, headers: { etag: '"tag"' } });
  };
  const ask = conditional(fetch, most);
  return { requests: requested, read: async (url: string) => (await (await ask(url)).text()).length };
}

test("answers are kept up to a bound; those that were not asked for the longest go first", async () => {
  const { requests: requested, read } = host(20_000);
  for (const url of ["/a/8000", "/b/8000", "/a/8000", "/c/8000"]) expect(await read(url)).toBe(8000);
  requested.length = 0;
  for (const url of ["/a/8000", "/b/8000"]) expect(await read(url)).toBe(8000);
  expect(requested).toEqual(["changed? /a/8000", "/b/8000"]);
});

test("small answers are bounded in number", async () => {
  const { requests: requested, read } = host(10_000);
  for (let count = 0; count < 100; count++) await read(`/${count}/1`);
  requested.length = 0;
  for (let count = 99; count >= 0; count--) await read(`/${count}/1`);
  expect(requested.filter((url) => url.startsWith("changed? "))).toHaveLength(9);
});

test("an answer above the bound is passed on, and forgotten", async () => {
  const { requests: requested, read } = host(10_000);
  expect(await read("/a/20000")).toBe(20_000);
  expect(await read("/a/20000")).toBe(20_000);
  expect(requested).toEqual(["/a/20000", "/a/20000"]);
});
