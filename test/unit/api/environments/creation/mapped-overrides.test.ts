import { describe, expect, test } from "@jest/globals";
import { readOverrides } from "../../../../../api/environments/creation/overrides.ts";
import {
  configSetFixture,
  fixtureSettings,
  repositoryFixture,
} from "../../../../support/fixtures/environment/environment-fixture.ts";

const place = { repoUrl: "https://git.test/c.git", path: ".", revision: "main" };

/** Violations of an override of these values, for a backend with this mapped chart. */
function violations(values: string | undefined, backend: object, configSet?: string) {
  const chart = values === undefined ? place : { ...place, values };
  const overridable = ["backend.tag", "backend.size", "backend.replicas"];
  const repository = repositoryFixture("shop-api", { chart, overridable });
  const request = {
    environment_name: "shop",
    backend_repo: "shop-api",
    config_overrides: { helm_values: { backend } },
  } as unknown as Parameters<typeof readOverrides>[0];
  return readOverrides(request, {
    sources: { backend: { repository } },
    configSet: configSet === undefined ? undefined : configSetFixture("web", { values: configSet }),
    hasDatabase: false,
    settings: fixtureSettings,
  }).violations;
}

const REFUSED = [
  {
    field: "config_overrides.helm_values.backend.tag",
    message: "is not overridable: the platform sets it: the chart's values have a reference there",
  },
];

describe("an override of a chart with values of its own", () => {
  const mapping = "backend: {tag: '${backend.image.tag}', size: 1}";

  test("is taken where no reference decides", () => {
    expect(violations(mapping, { size: 2 })).toEqual([]);
  });

  test("is refused where a reference of the chart's values decides", () => {
    expect(violations(mapping, { tag: "evil" })).toEqual(REFUSED);
  });

  test("is refused where a reference of the config set's values decides", () => {
    expect(violations(undefined, { tag: "evil" }, mapping)).toEqual(REFUSED);
  });

  test("is refused where no reference takes it to the chart", () => {
    expect(violations(mapping, { replicas: 2, env: { LEVEL: "debug" } })).toEqual([
      {
        field: "config_overrides.helm_values.backend.env",
        message: "changes nothing: the chart's values have no ${backend.env} or ${backend.envMap}",
      },
      {
        field: "config_overrides.helm_values.backend.replicas",
        message: "changes nothing: the chart's values have no ${backend.replicas}",
      },
    ]);
    const taking = "a: x ${backend.replicas}\nb: [{c: '${backend.envMap}'}]";
    expect(violations(taking, { replicas: 2, env: { LEVEL: "debug" } })).toEqual([]);
    expect(violations(undefined, { replicas: 2, env: { LEVEL: "debug" } })).toEqual([]);
  });

  test("of a variable whose value is a secret needs no reference", () => {
    const secretKeyRef = { name: "mail", key: "latest" };
    expect(violations(mapping, { env: { MAIL: { secretKeyRef }, SECRET_KEY: "x" } })).toEqual([]);
  });

  test("is left to the environment where the values can't be read", () => {
    expect(violations("a: [", { size: 2 })).toEqual([]);
  });
});
