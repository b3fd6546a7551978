import { describe, expect, test } from "@jest/globals";
import { type MapTemplate, readValues } from "../../../../../crds/chart-values/mapping.ts";
import type { EnvironmentSpec } from "../../../../../crds/environment/ephemeral-environment.ts";
import { forbiddenOverride, grantedValues } from "../../../../../operator/controllers/environment/overrides.ts";
import { environmentFixture, repositoryFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";

const backend = repositoryFixture("shop-api", { overridable: ["backend.cache.size", "frontend.theme"] });

describe("an override", () => {
  const forbidden = (spec: Partial<EnvironmentSpec>) =>
    forbiddenOverride(environmentFixture({ spec }), { repositories: { backend }, mapping: undefined });
  const value = (path: string, json = "1") => ({ overrides: { values: [{ path, value: json }] } });

  test.each([
    ["none at all", {}],
    ["of a component that there is", { overrides: { backend: { replicas: 2 } } }],
    ["of a path that the Repository lists", value("backend.cache.size")],
  ])("is fine: %s", (_what, spec) => {
    expect(forbidden(spec)).toBeUndefined();
  });

  test.each([
    [
      "of a component that there is not",
      { overrides: { frontend: {} } },
      "spec.overrides.frontend: the environment has no frontend",
    ],
    ["of a path that no Repository lists", value("backend.cache"), "'backend.cache': no Repository"],
    ["below a path that is listed", value("backend.cache.size.max"), "'backend.cache.size.max': no Repository"],
    [
      "of a path below a component that there is not",
      value("frontend.theme", '"dark"'),
      "'frontend.theme': the environment has no frontend",
    ],
    ["with an object", value("backend.cache.size", "{}"), "'backend.cache.size': the value must be"],
  ])("is forbidden: %s", (_what, spec, message) => {
    expect(forbidden(spec)).toMatchObject({
      state: "failed",
      reason: "OverrideForbidden",
      message: expect.stringContaining(message),
    });
  });

  const nowUnlisted = environmentFixture({
    spec: { overrides: { values: ["backend.a", "backend.b"].map((path) => ({ path, value: "1" })) } },
    status: { grantedValues: ["backend.a"] },
  });

  test("that was granted stays so, also when no Repository lists it any more", () => {
    const { message = "" } = forbiddenOverride(nowUnlisted, { repositories: { backend }, mapping: undefined }) ?? {};
    expect(message).toMatch(/backend\.b/);
    expect(message).not.toMatch(/backend\.a/);
    expect(grantedValues(nowUnlisted, { repositories: { backend }, mapping: undefined })).toEqual([
      { path: "backend.a", value: 1 },
    ]);
  });

  test("that is not a value is never granted", () => {
    const spec = value("backend.cache.size", "{}");
    expect(grantedValues(environmentFixture({ spec }), { repositories: { backend }, mapping: undefined })).toEqual([]);
  });

  test("that is forbidden is named with all others", () => {
    const values = [value("backend.a"), value("backend.b")].flatMap(({ overrides }) => overrides.values);
    const { message = "" } = forbidden({ overrides: { values } }) ?? {};
    expect(message).toMatch(/backend\.a.*backend\.b/);
  });

  test("that no reference takes to the chart is forbidden, by its field", () => {
    const mapping = readValues("a: ${backend.replicas}") as MapTemplate;
    const overrides = { backend: { replicas: 2, resources: { limits: { cpu: "1" } } } };
    const result = forbiddenOverride(environmentFixture({ spec: { overrides } }), {
      repositories: { backend },
      mapping,
    });
    expect(result).toMatchObject({
      state: "failed",
      reason: "OverrideForbidden",
      message: "spec.overrides.backend.resources: changes nothing: the chart's values have no ${backend.resources}",
    });
  });
});
