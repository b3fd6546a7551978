import { describe, expect, test } from "@jest/globals";
import { type Caller, permissionsOf } from "../../../../api/auth/access.ts";
import { environmentQuery } from "../../../../api/environments/list-query.ts";
import { environmentFixture } from "../../../support/fixtures/environment/environment-fixture.ts";
import { listed } from "../../../support/fixtures/environment/environment-list.ts";

const caller = { subject: "ann", groups: [], permissions: permissionsOf(["developer"]) } as unknown as Caller;
const fixture = environmentFixture();
const all = [
  {
    ...fixture,
    metadata: { ...fixture.metadata, name: "shop-one", creationTimestamp: "2023-11-14T22:13:20Z" },
    spec: { ...fixture.spec, owner: { subject: "ann", email: "ann@example.test", name: "Ann" } },
  },
];
const count = (query: Parameters<typeof environmentQuery>[0]) => listed(all, environmentQuery(query, caller)).total;

describe("the query of a list", () => {
  test.each<[string, number]>([
    ["0000-01-01T00:00:00+14:00", 1],
    ["1969-12-31T23:59:59.999", 1],
    ["2023-11-14T22:13:19.001Z", 1],
    ["2023-11-14T22:13:20Z", 1],
    ["2023-11-14T22:13:20.001Z", 0],
    ["2023-11-15T00:13:20+02:00", 1],
    ["9999-12-31T23:59:59.999Z", 0],
    ["9999-12-31T23:59:59-14:00", 0],
  ])("parts environments at %s: %d is created then or later, the rest before", (moment, since) => {
    expect(count({ created_after: moment })).toBe(since);
    expect(count({ created_before: moment })).toBe(1 - since);
  });

  test("matches a part of the name in either case, and only environments that the caller may see", () => {
    expect(count({ search: "OP-O" })).toBe(1);
    expect(count({ search: "op.o" })).toBe(0);
    expect(count({ status: "terminating" })).toBe(0);
    expect(listed(all, environmentQuery({}, { ...caller, subject: "bob" }))).toEqual({ items: [], total: 0 });
  });
});
