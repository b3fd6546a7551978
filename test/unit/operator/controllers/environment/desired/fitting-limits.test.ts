import { describe, expect, test } from "@jest/globals";
import { withFittingLimits } from "../../../../../../operator/controllers/environment/desired/values.ts";

describe("the limits of a component", () => {
  const defaultLimit = { memory: "512Mi" };

  test.each([
    ["are raised to a request above the default limit", { requests: { memory: "1Gi" } }, { memory: "1Gi" }],
    ["are left to the default, where the request is not above it", { requests: { memory: "0.5Gi" } }, undefined],
    ["are the given ones", { requests: { memory: "1Gi" }, limits: { memory: "2Gi" } }, { memory: "2Gi" }],
    ["of another resource stay", { requests: { memory: "1Gi" }, limits: { cpu: "1" } }, { cpu: "1", memory: "1Gi" }],
    ["are not there for what has no default limit", { requests: { cpu: "8" } }, undefined],
    ["are not there without a request", {}, undefined],
  ])("%s", (_rule, resources, limits) => {
    expect(withFittingLimits(resources, defaultLimit)).toEqual({ ...resources, ...(limits && { limits }) });
  });

  test("are raised for CPU, too, where it has a default limit", () => {
    const limits = { cpu: "2" };
    expect(withFittingLimits({ requests: { cpu: "2000m" } }, { cpu: "500m" })).toMatchObject({ limits });
  });
});
