import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../../../config/settings.ts";
import type { Quota } from "../../../../../../crds/config-set.ts";
import { ADMITTED_KINDS } from "../../../../../../operator/adapters/argocd/objects.ts";
import {
  limitRangeObject,
  priorityQuotaObject,
  quotaObject,
} from "../../../../../../operator/controllers/environment/desired/isolation.ts";
import { environmentFixture } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../../../support/fixtures/test-settings.ts";

const environment = environmentFixture();
const isolation = (settings: object) => settingsFrom({ ...testSettings, isolation: settings }).isolation;

const disk = (amount: string) => ({ "requests.ephemeral-storage": amount, "limits.ephemeral-storage": amount });

test("a quota is spelled as the API server stores it", () => {
  const quota = { "requests.cpu": "4000m", "limits.memory": "16384Mi", pods: "30" };
  const ephemeralStorage = { quota: "61440Mi" };
  expect(quotaObject(environment, isolation({ quota, objects: {}, ephemeralStorage })).spec).toEqual({
    hard: { "requests.cpu": "4", "limits.memory": "16Gi", pods: "30", ...disk("60Gi") },
  });
});

test("every config set has its own quota, over the settings'", () => {
  const settings = isolation({ quota: { pods: "30", "requests.cpu": "4" }, objects: {} });
  const hard = (chosen?: Quota) => quotaObject(environment, settings, chosen).spec;
  const chosen = [{ pods: 5 }, { pods: 7 }, undefined].map((quota) => hard(quota));
  expect(chosen).toMatchObject([{ hard: { pods: "5" } }, { hard: { pods: "7" } }, { hard: { pods: "30" } }]);
});

test("a quota counts objects of every kind that a chart can make, whatever else the settings limit", () => {
  const { hard } = quotaObject(environment, isolation({ quota: {} })).spec as { hard: Record<string, string> };
  const counted = Object.keys(hard).flatMap((key) => key.match(/^count\/([^.]+)/)?.[1] ?? []);
  const made = ADMITTED_KINDS.map(({ kind }) => (kind === "Ingress" ? "ingresses" : `${kind.toLowerCase()}s`));
  expect(counted).toEqual(expect.arrayContaining([...made, "replicasets"]));
  // The platform's own objects: an uncounted quota would refuse them.
  expect(counted).not.toContain("secrets");
});

test.each([
  { name: "no PriorityClass is admitted", priorityClasses: [], more: [] },
  {
    name: "those that the settings name are",
    priorityClasses: ["batch", "default"],
    more: [{ scopeName: "PriorityClass", operator: "NotIn", values: ["batch", "default"] }],
  },
])("$name, and pods without one always", ({ priorityClasses, more }) => {
  expect(priorityQuotaObject(environment, isolation({ priorityClasses })).spec).toEqual({
    hard: { pods: "0" },
    scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "Exists" }, ...more] },
  });
});

test("a quota is the config set's where that says something", () => {
  const quota = { "requests.cpu": "4", "requests.memory": "8Gi", "requests.storage": "20Gi", pods: "30" };
  const chosen = { cpu: "0.5", memory: "1024Mi", pods: 0 };
  expect(quotaObject(environment, isolation({ quota, objects: {} }), chosen).spec).toEqual({
    hard: {
      ...disk("60Gi"),
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
          default: { "ephemeral-storage": "2Gi", memory: "1Gi", cpu: "500m" },
          defaultRequest: { "ephemeral-storage": "0", memory: "1Gi", cpu: "50m" },
        },
      ],
    });
  });

  test("are those of local storage alone where the settings have no others", () => {
    expect(limitsOf({ defaultLimit: {}, defaultRequest: {}, ephemeralStorage: { defaultRequest: "64Mi" } })).toEqual({
      limits: [
        {
          type: "Container",
          default: { "ephemeral-storage": "2Gi" },
          defaultRequest: { "ephemeral-storage": "64Mi" },
        },
      ],
    });
  });
});
