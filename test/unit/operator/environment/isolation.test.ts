import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../config/settings.ts";
import { limitRangeObject, quotaObject } from "../../../../operator/environment/desired/isolation.ts";
import { environmentFixture } from "../../../support/environment-fixture.ts";
import { testSettings } from "../../../support/platform-chart.ts";

const environment = environmentFixture();
const isolation = (settings: object) => settingsFrom({ ...testSettings, isolation: settings }).isolation;

test("a quota is spelled as the API server stores it", () => {
  const quota = { "requests.cpu": "4000m", "limits.memory": "16384Mi", pods: "30" };
  expect(quotaObject(environment, isolation({ quota })).spec).toEqual({
    hard: { "requests.cpu": "4", "limits.memory": "16Gi", pods: "30" },
  });
});

test("a quota is the config set's where that says something", () => {
  const quota = { "requests.cpu": "4", "requests.memory": "8Gi", "requests.storage": "20Gi", pods: "30" };
  const chosen = { cpu: "0.5", memory: "1024Mi", pods: 0 };
  expect(quotaObject(environment, isolation({ quota }), chosen).spec).toEqual({
    hard: {
      "requests.cpu": "500m",
      "requests.memory": "1Gi",
      "limits.memory": "1Gi",
      "requests.storage": "20Gi",
      pods: "0",
    },
  });
});

test("an amount that is none is refused when the settings are read", () => {
  expect(() => isolation({ quota: { pods: "many" } })).toThrow("/isolation/quota/pods");
});

describe("the limits of a container that asks for nothing", () => {
  const limitsOf = (settings: object) => limitRangeObject(environment, isolation(settings)).spec;

  test("are spelled as the API server stores them, and a request is its limit where none is set", () => {
    const settings = { defaultLimit: { memory: "1024Mi", cpu: "0.5" }, defaultRequest: { cpu: "0.05" } };
    expect(limitsOf(settings)).toEqual({
      limits: [
        {
          type: "Container",
          default: { memory: "1Gi", cpu: "500m" },
          defaultRequest: { memory: "1Gi", cpu: "50m" },
        },
      ],
    });
  });

  test("are left out where there are none", () => {
    expect(limitsOf({ defaultLimit: {}, defaultRequest: { cpu: "1" } })).toEqual({
      limits: [{ type: "Container", defaultRequest: { cpu: "1" } }],
    });
    expect(limitsOf({ defaultLimit: {}, defaultRequest: {} })).toEqual({ limits: [{ type: "Container" }] });
  });
});
