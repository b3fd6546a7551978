import { describe, expect, test } from "@jest/globals";
import { runSteps } from "../../../../../operator/controllers/environment/run-steps.ts";
import type { Step } from "../../../../../operator/controllers/environment/step.ts";
import {
  done,
  failed,
  type StepResult,
  waiting,
  withFindings,
} from "../../../../../operator/controllers/environment/step-result.ts";
import { KubeError } from "../../../../../operator/kit/client/errors.ts";
import { BeingDeleted, NameTaken } from "../../../../../operator/ports/cluster.ts";
import { DeployerUnavailable } from "../../../../../operator/ports/deployer.ts";
import { CredentialRejected, RepositoryHostUnavailable } from "../../../../../operator/ports/repository-host.ts";
import { SecretManagerUnavailable } from "../../../../../operator/ports/secret-manager.ts";
import { CredentialRefused } from "../../../../../operator/repository-access/host-credentials.ts";
import { environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { endless, statesOf, step } from "./step-runs.ts";

describe("a run of the steps", () => {
  test.each([
    ["waiting", waiting("Slow", "", { requeueAfterMs: 1 })],
    ["failed", failed("Broken", "")],
  ])("stops after a step that is %s, and runs those that do not need it", async (state, result) => {
    const { states, error } = await statesOf([
      step("NamespaceReady", [], result),
      step("IsolationReady", ["NamespaceReady"], done("Never")),
      step("SourceResolved", [], done("Resolved")),
      step("ApplicationSynced", ["IsolationReady", "SourceResolved"], done("Never")),
    ]);
    expect(states).toEqual({ NamespaceReady: state, SourceResolved: "done" });
    expect(error).toBeUndefined();
  });

  test.each([
    ["waiting", waiting("Building", "", { requeueAfterMs: 1 })],
    ["failed", failed("Broken", "")],
  ])("continues after a step that is %s with its former findings, if the step allows it", async (_state, result) => {
    const continueWithPrevious: Step["continueWithPrevious"] = ({ status }) => status?.namespace === "env-shop";
    const plan = (namespace: string) => [
      { ...step("SourceResolved", [], withFindings(result, { namespace })), continueWithPrevious },
      step("ApplicationSynced", ["SourceResolved"], done("Synced")),
    ];
    expect((await statesOf(plan("env-shop"))).states).toMatchObject({ ApplicationSynced: "done" });
    expect((await statesOf(plan("other"))).states).not.toHaveProperty("ApplicationSynced");
  });

  test("lets a step decide by its result whether its former findings may be used", async () => {
    const continueWithPrevious: Step["continueWithPrevious"] = (_environment, result) => result?.state === "failed";
    const behind = async (result: StepResult) => {
      const needed = { ...step("SecretsReady", [], result), continueWithPrevious };
      return (await statesOf([needed, step("ApplicationSynced", ["SecretsReady"], done("Synced"))])).states;
    };
    expect(await behind(failed("Refused", ""))).toMatchObject({ ApplicationSynced: "done" });
    expect(await behind(waiting("Slow", "", { requeueAfterMs: 1 }))).not.toHaveProperty("ApplicationSynced");
  });

  test("runs no step that needs one outside the plan", async () => {
    expect((await statesOf([step("UrlsReady", ["ApplicationSynced"], done("Never"))])).states).toEqual({});
  });

  test("gives a step the findings of the steps before it", async () => {
    const seen: unknown[] = [];
    const look: Step["run"] = async ({ status }) => {
      seen.push(status?.namespace);
      return done("Seen");
    };
    await statesOf([
      step("NamespaceReady", [], done("Created", { findings: { namespace: "env-shop" } })),
      step("SecretsReady", ["NamespaceReady"], look),
    ]);
    expect(seen).toEqual(["env-shop"]);
  });

  test("gives a step the results of the steps before it", async () => {
    const seen: unknown[] = [];
    const look: Step["run"] = async (_environment, { earlier }) => {
      seen.push(earlier.get("SecretsReady")?.reason);
      return done("Seen");
    };
    await statesOf([step("SecretsReady", [], done("Mirrored")), step("ApplicationSynced", ["SecretsReady"], look)]);
    expect(seen).toEqual(["Mirrored"]);
  });

  test("gives parallel steps the same environment object, so that they can share what is computed from it", async () => {
    const seen = new Set<unknown>();
    const look: Step["run"] = async (environment) => {
      seen.add(environment);
      return done("Seen");
    };
    const found = done("Created", { findings: { namespace: "env-shop" } });
    const sides = (["DatabaseReady", "ApplicationSynced"] as const).map((type) => step(type, ["NamespaceReady"], look));
    await statesOf([step("NamespaceReady", [], found), ...sides]);
    expect(seen.size).toBe(1);
  });

  test.each([
    { found: "env-shop", says: "what the status says already", objects: 1 },
    { found: "env-other", says: "something new", objects: 2 },
  ])("gives later steps $objects environment object(s) when a step finds $says", async ({ found, objects }) => {
    const seen = new Set<unknown>();
    const environment = environmentFixture({ status: { namespace: "env-shop" } });
    const look =
      (namespace: string): Step["run"] =>
      async (seeing) => {
        seen.add(seeing);
        return done("Seen", { findings: { namespace } });
      };
    const plan = [
      step("NamespaceReady", [], look(found)),
      step("IsolationReady", ["NamespaceReady"], look("env-shop")),
    ];
    await runSteps(plan, environment, endless);
    expect(seen.size).toBe(objects);
    // One run's cache for the environment does not carry over: the world may have changed.
    expect(seen.has(environment)).toBe(false);
  });

  test("runs steps that don't need each other in parallel", async () => {
    let meet: () => void = () => undefined;
    const met = new Promise<void>((resolve) => {
      meet = resolve;
    });
    const { states } = await statesOf([
      step("IsolationReady", [], async () => {
        await met;
        return done("Met");
      }),
      step("SecretsReady", [], async () => {
        meet();
        return done("Met");
      }),
    ]);
    expect(states).toEqual({ IsolationReady: "done", SecretsReady: "done" });
  });

  test("shows an error as waiting, returns it, and runs the other steps", async () => {
    const broken = new KubeError({ status: 500, reason: "InternalError", detail: "secret detail" });
    const { results, error } = await statesOf([
      step("NamespaceReady", [], async () => {
        throw broken;
      }),
      step("SourceResolved", [], done("Resolved")),
    ]);
    expect(error).toBe(broken);
    expect(results.get("NamespaceReady")).toMatchObject({
      state: "waiting",
      reason: "Retrying",
      message: broken.message,
    });
    expect(JSON.stringify([...results])).not.toContain("secret detail");
    expect(results.get("SourceResolved")?.state).toBe("done");
  });

  test("keeps the findings of a result with an error, and returns the error", async () => {
    const findings = { podSecrets: ["environment-secrets-00000001"] };
    const cause = new Error("the connection broke");
    const result = withFindings({ ...waiting("Retrying", "", { requeueAfterMs: 1 }), error: cause }, findings);
    const { results, error } = await statesOf([step("SecretsReady", [], result)]);
    expect(results.get("SecretsReady")).toMatchObject({ state: "waiting", reason: "Retrying", findings });
    expect(error).toBe(cause);
  });

  test("has no result for a conflict", async () => {
    const conflict = new KubeError({ status: 409, reason: "Conflict" });
    const { results, error } = await statesOf([
      step("NamespaceReady", [], async () => {
        throw conflict;
      }),
    ]);
    expect([...results]).toEqual([]);
    expect(error).toBe(conflict);
  });

  test("runs a step with alwaysRun although one before it is not done", async () => {
    const { states } = await statesOf([
      step("ApplicationSynced", [], failed("Broken", "")),
      { ...step("UrlsReady", ["ApplicationSynced"], done("Answering")), alwaysRun: () => true },
    ]);
    expect(states).toEqual({ ApplicationSynced: "failed", UrlsReady: "done" });
  });

  test("hides the message of an unexpected error", async () => {
    const { results } = await statesOf([
      step("NamespaceReady", [], async () => {
        throw new Error("secret detail");
      }),
    ]);
    expect(JSON.stringify([...results])).not.toContain("secret detail");
    expect(results.get("NamespaceReady")).toMatchObject({ state: "waiting", reason: "Retrying" });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["another field", { url: "https://shop.test" }, "url"],
    ["an unknown field", { wrongName: 1 }, "wrongName"],
    ["a field of the reconciler beside its own", { namespace: "env-shop", phase: "ready" }, "phase"],
  ])("stores no findings of a step that finds %s than it writes", async (_title, findings, field) => {
    const own = { ...step("NamespaceReady", [], done("Created")), writes: ["namespace"] } satisfies Step;
    const expected = new Error(`the step of NamespaceReady does not write ${field}`);
    const ofRun = await statesOf([{ ...own, run: async () => done("Created", { findings }) }]);
    expect(ofRun.error).toEqual(expected);
    expect(ofRun.results.get("NamespaceReady")).toMatchObject({ state: "waiting", reason: "Retrying" });
    const ofCleanUp = await statesOf([{ ...own, cleanUp: async () => findings }]);
    expect(ofCleanUp.error).toEqual(expected);
    for (const { results } of [ofRun, ofCleanUp]) expect(results.get("NamespaceReady")?.findings).toBeUndefined();
  });

  test("runs no step after the abort", async () => {
    const plan = [step("NamespaceReady", [], done("Never"))];
    const { error } = await runSteps(plan, environmentFixture(), AbortSignal.abort());
    expect(error).toMatchObject({ name: "AbortError" });
  });

  test.each([
    [new NameTaken("Namespace", "env-shop"), { state: "failed", reason: "NameTaken", requeueAfterMs: 20_000 }],
    [new BeingDeleted("it goes"), { state: "waiting", reason: "BeingDeleted", requeueAfterMs: 2_000 }],
    [new DeployerUnavailable("away"), { state: "waiting", reason: "DeployerUnavailable", requeueAfterMs: 5_000 }],
    [new SecretManagerUnavailable("away"), { state: "waiting", reason: "SecretManagerUnavailable" }],
    [new RepositoryHostUnavailable("away"), { state: "waiting", reason: "RepositoryHostUnavailable" }],
    [
      new CredentialRefused("CredentialNotFound", "it was never written"),
      { state: "failed", reason: "CredentialNotFound", requeueAfterMs: 30_000 },
    ],
    [
      new CredentialRejected("it answered 401"),
      { state: "failed", reason: "CredentialRejected", requeueAfterMs: 300_000 },
    ],
  ])("has a result for an error of a port, and does not retry it with backoff: %s", async (refusal, expected) => {
    const { results, error } = await statesOf([
      step("NamespaceReady", [], async () => {
        throw refusal;
      }),
    ]);
    expect(results.get("NamespaceReady")).toMatchObject({ ...expected, message: refusal.message });
    expect(error).toBeUndefined();
  });
});
