import { describe, expect, test } from "@jest/globals";
import { addressOf, afterChange, queryFrom } from "../../../../../clients/console/environments/page-of-list.ts";
import type { EnvironmentStatus, ListedEnvironmentReport } from "../../../../../clients/sdk/index.ts";

const ALL = { search: "", status: "", isMine: false, offset: 0 };

describe("the address of a list", () => {
  test.each([
    [ALL, "/console/"],
    [
      { ...ALL, search: "pr & co", status: "failed", isMine: true, offset: 50 },
      "/console/?search=pr+%26+co&status=failed&mine=1&offset=50",
    ],
  ])("is read as it was written: %j", (query, address) => {
    expect(addressOf(query)).toBe(address);
    expect(queryFrom(Object.fromEntries(new URL(address, "https://console").searchParams))).toEqual(query);
  });

  test.each(["-50", "1.5", "many", "1e99"])("with the offset %s shows the first page", (offset) => {
    expect(queryFrom({ offset }).offset).toBe(0);
  });
});

const environment = (name: string, status: EnvironmentStatus = "ready"): ListedEnvironmentReport => ({
  id: `id-${name}`,
  name,
  status,
  urls: { backend: `https://${name}.test` },
  protected: false,
  protected_until: null,
  suspended: false,
  sleep: null,
  created_at: "2026-06-01T10:00:00Z",
  expires_at: "2026-06-02T10:00:00Z",
  creator: { email: "", name: "" },
  repositories: { backend: { repo: "shop-api", branch: "main", commit: "" } },
  progress: { done: 1, total: 1, waiting_for: null },
});
const changed = (one: ListedEnvironmentReport) =>
  ({ type: "changed", id: one.id, name: one.name, environment: one }) as const;

describe("a page after a change", () => {
  const page = { environments: [environment("one"), environment("two")], total: 60 };
  const shownAfter = (change: Parameters<typeof afterChange>[1], query: object = {}) => {
    const { page: next, isStale } = afterChange(page, change, { ...ALL, ...query });
    return { shown: next.environments.map(({ name, status }) => `${name} ${status}`), total: next.total, isStale };
  };

  test("of an environment on it has its new state in its place, and nothing is asked for", () => {
    const shown = ["one ready", "two failed"];
    expect(shownAfter(changed(environment("two", "failed")))).toEqual({ shown, total: 60, isStale: false });
  });

  test("has no longer what is gone, and is asked for, since the next page moves up", () => {
    const gone = { type: "removed", id: "id-one", name: "one" } as const;
    expect(shownAfter(gone)).toEqual({ shown: ["two ready"], total: 59, isStale: true });
  });

  test("has no longer what does not fit the filter any more", () => {
    const failed = changed(environment("one", "failed"));
    expect(shownAfter(failed, { status: "ready" })).toEqual({ shown: ["two ready"], total: 59, isStale: true });
  });

  test.each([
    ["a new one", changed(environment("three")), {}, true],
    ["one that is gone from another page", { type: "removed", id: "id-x", name: "x" } as const, {}, true],
    ["a new one that the search does not want", changed(environment("three")), { search: "ONE" }, false],
    ["a new one that the search wants", changed(environment("ONE-more")), { search: "one" }, true],
    ["one in another state than is wanted", changed(environment("three")), { status: "failed" }, false],
  ])("stays as it is with %s; whether it is asked for depends", (_what, change, query, isStale) => {
    expect(shownAfter(change, query)).toEqual({ shown: ["one ready", "two ready"], total: 60, isStale });
  });
});
