import { describe, expect, test } from "@jest/globals";
import { type TeardownContext, tearDown, terminatingStatus } from "../../../../operator/environment/teardown.ts";
import { KubeError } from "../../../../operator/kit/kube-errors.ts";
import type { Removal } from "../../../../operator/ports/cluster.ts";
import { SecretManagerUnavailable } from "../../../../operator/ports/secret-manager.ts";
import { environmentFixture, minutesLater } from "../../../support/environment-fixture.ts";

const gone: Removal = { state: "gone" };
const environment = environmentFixture({ metadata: { deletionTimestamp: minutesLater(1).toISOString() } });

interface Scene {
  readonly application?: Removal;
  readonly namespace?: Removal;
  readonly holdsAny?: boolean;
  readonly failure?: Error;
}

async function scene({ application = gone, namespace = gone, holdsAny = false, failure }: Scene) {
  const asked: string[] = [];
  const context = {
    signal: new AbortController().signal,
    deployer: {
      async remove() {
        asked.push("application");
        return application;
      },
    },
    secretManager: {
      async remove() {
        asked.push("secrets");
        if (failure) throw failure;
      },
      holdsAny: async () => holdsAny,
    },
    cluster: {
      async remove() {
        asked.push("namespace");
        return namespace;
      },
    },
  } as unknown as TeardownContext;
  const { steps, error } = await tearDown(environment, context);
  return { asked, error, steps, states: steps.map(({ state }) => state) };
}

const held = (message: string): Removal => ({ state: "removing", message });

describe("a teardown", () => {
  test.each([
    ["nothing is left", {}, ["gone", "gone", "gone"]],
    ["the application is held", { application: held("a") }, ["waiting", "pending", "pending"]],
    ["a value is left", { holdsAny: true }, ["gone", "waiting", "pending"]],
    ["the namespace is held", { namespace: held("n") }, ["gone", "gone", "waiting"]],
    ["the secret manager is away", { failure: new SecretManagerUnavailable("away") }, ["gone", "waiting", "pending"]],
  ])("goes in order and no further than it may: %s", async (_what, given, states) => {
    const done = await scene(given);
    expect(done.states).toEqual(states);
    const begun = states.filter((state) => state !== "pending").length;
    expect(done.asked).toEqual(["application", "secrets", "namespace"].slice(0, begun));
  });

  test("hands a failure up and shows what it waits for, without details", async () => {
    const failure = new KubeError({ status: 500, reason: "InternalError", detail: "secret detail" });
    const { error, steps } = await scene({ failure });
    expect(error).toBe(failure);
    expect(JSON.stringify(steps)).not.toContain("secret detail");
    expect(steps[1]).toMatchObject({ state: "waiting", message: failure.message });
  });

  test("is told in the status", async () => {
    const { steps } = await scene({ namespace: held("held by finalizer example.test/hold") });
    const status = terminatingStatus(environment, steps, minutesLater(2));
    expect(status).toMatchObject({
      phase: "terminating",
      teardown: { steps },
      conditions: [
        {
          ...{ type: "Ready", status: "False", reason: "Terminating" },
          message: "waiting for namespace: held by finalizer example.test/hold",
        },
      ],
    });
  });
});
