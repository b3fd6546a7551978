import { describe, expect, test } from "@jest/globals";
import type { StepCondition } from "../../../../crds/conditions.ts";
import { runSteps } from "../../../../operator/environment/run-steps.ts";
import {
  done,
  failed,
  Interrupted,
  type Step,
  type StepContext,
  type StepResult,
  waiting,
} from "../../../../operator/environment/step.ts";
import { KubeError } from "../../../../operator/kit/client/errors.ts";
import { BeingDeleted, NameTaken } from "../../../../operator/ports/cluster.ts";
import { DeployerUnavailable } from "../../../../operator/ports/deployer.ts";
import { CredentialRejected, RepositoryHostUnavailable } from "../../../../operator/ports/repository-host.ts";
import { SecretManagerUnavailable } from "../../../../operator/ports/secret-manager.ts";
import { CredentialRefused } from "../../../../operator/repository/host-credentials.ts";
import { environmentFixture } from "../../../support/fixtures/environment-fixture.ts";

const nothing = { signal: new AbortController().signal } as StepContext;

function step(condition: StepCondition, after: StepCondition[], run: Step["run"] | StepResult): Step {
  return { condition, after, run: typeof run === "function" ? run : async () => run };
}

const statesOf = async (plan: readonly Step[]) => {
  const { results, error } = await runSteps(plan, environmentFixture(), nothing);
  return { states: Object.fromEntries([...results].map(([type, { state }]) => [type, state])), results, error };
};

describe("a walk over the steps", () => {
  test.each([
    ["waiting", waiting("Slow", "", { requeueAfterMs: 1 })],
    ["failed", failed("Broken", "")],
  ])("stops behind one that is %s, and takes what does not need it", async (state, result) => {
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
  ])("goes on behind one that is %s where what it found before stands, and nowhere else", async (_state, result) => {
    const continueWithPrevious: Step["continueWithPrevious"] = ({ status }) => status?.namespace === "env-shop";
    const plan = (namespace: string) => [
      { ...step("SourceResolved", [], { ...result, findings: { namespace } }), continueWithPrevious },
      step("ApplicationSynced", ["SourceResolved"], done("Synced")),
    ];
    expect((await statesOf(plan("env-shop"))).states).toMatchObject({ ApplicationSynced: "done" });
    expect((await statesOf(plan("other"))).states).not.toHaveProperty("ApplicationSynced");
  });

  test("lets a step decide by how it ended whether what it found before stands", async () => {
    const continueWithPrevious: Step["continueWithPrevious"] = (_environment, _context, result) =>
      result?.state === "failed";
    const behind = async (result: StepResult) => {
      const needed = { ...step("SecretsReady", [], result), continueWithPrevious };
      return (await statesOf([needed, step("ApplicationSynced", ["SecretsReady"], done("Synced"))])).states;
    };
    expect(await behind(failed("Refused", ""))).toMatchObject({ ApplicationSynced: "done" });
    expect(await behind(waiting("Slow", "", { requeueAfterMs: 1 }))).not.toHaveProperty("ApplicationSynced");
  });

  test("takes nothing that needs a step which is not in the plan", async () => {
    expect((await statesOf([step("UrlsReady", ["ApplicationSynced"], done("Never"))])).states).toEqual({});
  });

  test("gives a step what the ones before it found", async () => {
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

  test("tells a step how the ones before it ended", async () => {
    const seen: unknown[] = [];
    const look: Step["run"] = async (_environment, { earlier }) => {
      seen.push(earlier.get("SecretsReady")?.reason);
      return done("Seen");
    };
    await statesOf([step("SecretsReady", [], done("Mirrored")), step("ApplicationSynced", ["SecretsReady"], look)]);
    expect(seen).toEqual(["Mirrored"]);
  });

  test("gives those that come side by side one environment, of which things are computed once", async () => {
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

  test("takes steps that don't need each other at once", async () => {
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

  test("shows an error as waiting, hands it up, and goes on with the others", async () => {
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

  test("keeps what a step had found when something stopped it, and says the same of that", async () => {
    const findings = { podSecrets: ["environment-secrets-00000001"] };
    const stoppedBy = (cause: Error) =>
      statesOf([
        step("SecretsReady", [], async () => {
          throw new Interrupted(findings, cause);
        }),
      ]);
    const cause = new Error("the connection broke");
    const { results, error } = await stoppedBy(cause);
    expect(results.get("SecretsReady")).toMatchObject({ state: "waiting", reason: "Retrying", findings });
    expect(error).toBe(cause);
    const refused = await stoppedBy(new SecretManagerUnavailable("it is away"));
    expect(refused.results.get("SecretsReady")).toMatchObject({ reason: "SecretManagerUnavailable", findings });
    expect(refused.error).toBeUndefined();
  });

  test("says nothing of a lost race: the next pass will", async () => {
    const conflict = new KubeError({ status: 409, reason: "Conflict" });
    const { results, error } = await statesOf([
      step("NamespaceReady", [], async () => {
        throw conflict;
      }),
    ]);
    expect([...results]).toEqual([]);
    expect(error).toBe(conflict);
  });

  test("takes a step that persists although one before it is not done", async () => {
    const { states } = await statesOf([
      step("ApplicationSynced", [], failed("Broken", "")),
      { ...step("UrlsReady", ["ApplicationSynced"], done("Answering")), alwaysRun: () => true },
    ]);
    expect(states).toEqual({ ApplicationSynced: "failed", UrlsReady: "done" });
  });

  test("says nothing of an unexpected error but where to look", async () => {
    const { results } = await statesOf([
      step("NamespaceReady", [], async () => {
        throw new Error("secret detail");
      }),
    ]);
    expect(JSON.stringify([...results])).not.toContain("secret detail");
    expect(results.get("NamespaceReady")).toMatchObject({ state: "waiting", reason: "Retrying" });
  });

  test("takes no step once its time is up", async () => {
    const ended = { signal: AbortSignal.abort() } as StepContext;
    const { error } = await runSteps([step("NamespaceReady", [], done("Never"))], environmentFixture(), ended);
    expect(error).toMatchObject({ name: "AbortError" });
  });

  test.each([
    [new NameTaken("Namespace", "env-shop"), { state: "failed", reason: "NameTaken", requeueAfterMs: 20_000 }],
    [new BeingDeleted("it goes"), { state: "waiting", reason: "BeingDeleted", requeueAfterMs: 2_000 }],
    [new DeployerUnavailable("away"), { state: "waiting", reason: "DeployerUnavailable", requeueAfterMs: 5_000 }],
    [new SecretManagerUnavailable("away"), { state: "waiting", reason: "SecretManagerUnavailable" }],
    [new RepositoryHostUnavailable("away"), { state: "waiting", reason: "RepositoryHostUnavailable" }],
    [
      new CredentialRefused("CredentialNotFound", "nobody wrote it"),
      { state: "failed", reason: "CredentialNotFound", requeueAfterMs: 30_000 },
    ],
    [
      new CredentialRejected("it answered 401"),
      { state: "failed", reason: "CredentialRejected", requeueAfterMs: 300_000 },
    ],
  ])("knows a port's refusal as a result, not as a failure: %s", async (refusal, expected) => {
    const { results, error } = await statesOf([
      step("NamespaceReady", [], async () => {
        throw refusal;
      }),
    ]);
    expect(results.get("NamespaceReady")).toMatchObject({ ...expected, message: refusal.message });
    expect(error).toBeUndefined();
  });
});
