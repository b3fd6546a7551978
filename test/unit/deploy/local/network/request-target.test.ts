import { describe, expect, test } from "@jest/globals";
import { requestTarget } from "../../../../../deploy/local/network/request-target.ts";

describe("the target of a request", () => {
  test.each([
    {
      name: "a path",
      url: "/platform/chart.git/info/refs?service=git-upload-pack",
      path: "/platform/chart.git/info/refs",
    },
    { name: "the root", url: "/", path: "/" },
    { name: "a path without its dot segments", url: "/a/../../etc", path: "/etc" },
    { name: "the path of a whole URL", url: "http://127.0.0.1:9300/a?b", path: "/a" },
    { name: "a path that looks like a URL", url: "/http://other/", path: "/http://other/" },
  ])("is $name", ({ url, path }) => {
    expect(requestTarget({ url })?.pathname).toBe(path);
  });

  test("has the query", () => {
    expect(requestTarget({ url: "/a?b=c&b=d" })?.searchParams.getAll("b")).toEqual(["c", "d"]);
  });

  test.each([
    { name: "two slashes", url: "//" },
    { name: "two slashes and a host", url: "//other/a" },
    { name: "two slashes and what is no host", url: "//[" },
    { name: "the asterisk of OPTIONS", url: "*" },
    { name: "another scheme", url: "file:///etc/passwd" },
    { name: "what is no URL", url: "http://[" },
    { name: "nothing", url: "" },
  ])("is none for $name", ({ url }) => {
    expect(requestTarget({ url })).toBeUndefined();
  });
});
