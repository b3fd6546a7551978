import { describe, expect, test } from "@jest/globals";
import type { Step } from "../../../../../operator/controllers/environment/step.ts";
import { done } from "../../../../../operator/controllers/environment/step-result.ts";
import { KubeError } from "../../../../../operator/kit/client/errors.ts";
import { statesOf, step } from "./step-runs.ts";

describe("a run of the steps cleans up", () => {
  const retired = { podSecrets: ["environment-secrets-00000002"] };

  test("when every step has ended, and adds the findings to the result of the step", async () => {
    const seen: unknown[] = [];
    const cleanUp: Step["cleanUp"] = async ({ status }, { earlier }) => {
      seen.push(earlier.get("ApplicationSynced")?.state, status?.deployerApp);
      return retired;
    };
    const { results, error } = await statesOf([
      { ...step("SecretsReady", [], done("Mirrored", { findings: { pullSecret: [] } })), cleanUp },
      step("ApplicationSynced", ["SecretsReady"], done("Synced", { findings: { deployerApp: "env-shop" } })),
    ]);
    expect(seen).toEqual(["done", "env-shop"]);
    expect(results.get("SecretsReady")).toEqual(done("Mirrored", { findings: { pullSecret: [], ...retired } }));
    expect(error).toBeUndefined();
  });

  test("without changing any result when that fails, and returns the error", async () => {
    const broken = new KubeError({ status: 500, reason: "InternalError" });
    const cleanUp = async () => {
      throw broken;
    };
    const { states, error } = await statesOf([{ ...step("SecretsReady", [], done("Mirrored")), cleanUp }]);
    expect(states).toEqual({ SecretsReady: "done" });
    expect(error).toBe(broken);
  });

  test("only for steps that ran", async () => {
    const cleanUp = async () => {
      throw new Error("it has not run");
    };
    const { error } = await statesOf([{ ...step("UrlsReady", ["ApplicationSynced"], done("Never")), cleanUp }]);
    expect(error).toBeUndefined();
  });
});
