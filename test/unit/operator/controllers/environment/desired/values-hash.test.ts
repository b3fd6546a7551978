import { describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../../../crds/environment/ephemeral-environment.ts";
import type { ChartSource, GitChart } from "../../../../../../crds/repository/chart-source.ts";
import type { RepositorySpec } from "../../../../../../crds/repository/repository.ts";
import { hashOfDesired } from "../../../../../../operator/controllers/environment/desired/values.ts";
import { fixtureSettings, UID } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { type Parts, settled, shop, valuesOf } from "./shop-values.ts";

describe("what is wanted", () => {
  const chart: ChartSource = fixtureSettings.defaultChart;
  const hashOf = (environment: EphemeralEnvironment, backend: Partial<RepositorySpec> = {}, from = chart) =>
    hashOfDesired(from, valuesOf(environment, backend));
  const usual = hashOf(shop());

  test.each([
    ["the TTL", { spec: { ttlHours: 99 } }],
    ["the protection", { spec: { protected: true } }],
    ["the owner", { spec: { owner: { subject: "i#s", email: "a@b.test", name: "A" } } }],
    ["who may see it", { spec: { access: { groups: ["team"] } } }],
    ["labels and annotations", { metadata: { labels: { a: "b" }, annotations: { c: "d" }, generation: 9 } }],
    ["its own history", { status: { readyAt: "2026-01-01T00:00:00Z", phase: "ready" } }],
  ] satisfies [string, Parts][])("stays the same when %s changes", (_what, parts) => {
    expect(hashOf(shop(parts))).toBe(usual);
  });

  test.each([
    [
      "another image",
      shop({
        status: { sources: { backend: { applied: { ...settled.applied, image: "registry.test/other:1" } } } },
      }),
      {},
    ],
    ["a new version of the secrets", shop({ status: { secrets: [{ name: "A", version: 2 }] } }), {}],
    ["another health path", shop(), { healthPath: "/healthz" }],
    ["sleep", shop({ spec: { suspended: true } }), {}],
    ["a database", shop({ spec: { database: { provision: true } } }), {}],
    ["an environment of the same name made anew", shop({ metadata: { uid: UID.replace("0", "1") } }), {}],
  ])("is something else with %s", (_what, environment, backend) => {
    expect(hashOf(environment, backend)).not.toBe(usual);
  });

  test("stays the same when a Repository lists a variable that stands in it, or an override no more", () => {
    const overrides = {
      backend: { env: [{ name: "LEVEL", value: "info" }] },
      values: [{ path: "backend.size", value: "1" }],
    };
    const made = shop({ spec: { overrides }, status: { secrets: [], grantedValues: ["backend.size"] } });
    const before = hashOf(made, { secrets: [], overridable: ["backend.size"] });
    expect(hashOf(made, { secrets: [{ name: "LEVEL" }], overridable: [] })).toBe(before);
    expect(before).not.toBe(hashOf(shop({ status: { secrets: [] } })));
  });

  test("is something else with another chart, and short enough for a label", () => {
    expect(hashOf(shop(), {}, { ...(chart as GitChart), revision: "next" })).not.toBe(usual);
    expect(usual).toMatch(/^[0-9a-f]{12}$/);
  });
});
