import { describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { FORCE_TEARDOWN_ANNOTATION } from "../../../../../../crds/group.ts";
import { TEARDOWN_STEPS, type Teardown } from "../../../../../../operator/controllers/environment/deletion/teardown.ts";
import {
  beforeTeardown,
  terminatingStatus,
} from "../../../../../../operator/controllers/environment/deletion/terminating.ts";
import { environmentFixture, minutesLater } from "../../../../../support/fixtures/environment/environment-fixture.ts";

const hold = { kind: "Namespace", name: "env-shop", reason: "example.test/hold", message: "a finalizer" };
const steps = [{ name: "namespace", state: "waiting" as const, message: "held by example.test/hold" }];
const waiting: Teardown = { steps, blockers: [], removals: [] };
const stuck: Teardown = { steps, blockers: [hold], removals: [] };

const condition = (status: "True" | "False", reason: string) => ({
  type: "Ready",
  status,
  reason,
  message: "",
  lastTransitionTime: minutesLater(0).toISOString(),
});

function leaving(force?: string, status?: EphemeralEnvironment["status"]): EphemeralEnvironment {
  const annotations = force === undefined ? {} : { annotations: { [FORCE_TEARDOWN_ANNOTATION]: force } };
  const metadata = { deletionTimestamp: minutesLater(1).toISOString(), ...annotations };
  return environmentFixture({ metadata, ...(status === undefined ? {} : { status }) });
}

describe("the status of a deletion", () => {
  const waits = "waiting for namespace: held by example.test/hold";
  const hangs = "stuck at namespace: held by example.test/hold";

  test.each<{ name: string; force?: string; teardown: Teardown; reason: string; message: string }>([
    { name: "waits", teardown: waiting, reason: "Terminating", message: waits },
    {
      name: "is stuck",
      teardown: stuck,
      reason: "DeletionStuck",
      message: `${hangs}; an admin may skip it with the annotation ${FORCE_TEARDOWN_ANNOTATION}: namespace`,
    },
    {
      name: "was forced too early",
      force: "namespace",
      teardown: waiting,
      reason: "Terminating",
      message: `${waits}; ${FORCE_TEARDOWN_ANNOTATION} names it, but it is not stuck yet`,
    },
    {
      name: "was forced by a name that is none",
      force: "x".repeat(500),
      teardown: stuck,
      reason: "DeletionStuck",
      message: `${hangs}; ${FORCE_TEARDOWN_ANNOTATION} names '${"x".repeat(63)}…', which is not a step: the steps are ${TEARDOWN_STEPS.join(", ")}`,
    },
    {
      name: "was forced past a former step",
      force: "application",
      teardown: waiting,
      reason: "Terminating",
      message: waits,
    },
  ])("says that it $name", ({ force, teardown, reason, message }) => {
    const status = terminatingStatus(leaving(force), teardown, minutesLater(7));
    expect(status.phase).toBe("terminating");
    expect(status.conditions).toMatchObject([{ type: "Ready", status: "False", reason, message }]);
    expect(status.teardown?.blockers).toEqual(teardown.blockers.length === 0 ? undefined : [hold]);
  });

  test("says the same as long as nothing changes", () => {
    const first = terminatingStatus(leaving(), stuck, minutesLater(7));
    expect(terminatingStatus(leaving(undefined, first), stuck, minutesLater(60))).toEqual(first);
  });
});

describe("what the environment was before", () => {
  test.each<[string, EphemeralEnvironment["status"], object]>([
    ["never seen", undefined, { phase: "creating" }],
    ["ready", { readyAt: minutesLater(0).toISOString(), conditions: [condition("True", "Ready")] }, { phase: "ready" }],
    ["failed", { conditions: [condition("False", "NameTaken")] }, { phase: "failed", failure: "NameTaken" }],
  ])("%s: is kept through the deletion", (_what, status, expected) => {
    expect(beforeTeardown(status === undefined ? {} : { status })).toEqual(expected);
    const during = terminatingStatus(leaving(undefined, status), stuck, minutesLater(7));
    expect(during.teardown?.before).toEqual(expected);
    expect(beforeTeardown({ status: during })).toEqual(expected);
  });
});
