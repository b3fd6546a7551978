import { describe, expect, test } from "@jest/globals";
import {
  type ApplicationStatus,
  keptStatus,
  observed,
} from "../../../../operator/adapters/argocd-application-status.ts";

const source = { repoURL: "https://git.example.test/chart.git", helm: { valuesObject: { a: 1 } } };
const former = { ...source, helm: { valuesObject: { a: 0 } } };
const healthy: ApplicationStatus = {
  sync: { status: "Synced", revision: "abc", comparedTo: { source } },
  health: { status: "Healthy" },
  operationState: { phase: "Succeeded", finishedAt: "2026-01-01T00:00:05Z", syncResult: { source } },
  reconciledAt: "2026-01-01T00:00:06Z",
};
const unsynced = { sync: { ...healthy.sync, status: "OutOfSync" } };

const cases: readonly {
  name: string;
  status: ApplicationStatus;
  operation?: object;
  state: string;
  message?: string;
}[] = [
  { name: "nothing was said yet", status: {}, state: "waiting", message: "to compare" },
  { name: "synced and healthy on the wanted source", status: healthy, state: "healthy" },
  {
    name: "healthy on the values before says nothing of those wanted",
    status: { ...healthy, sync: { ...healthy.sync, comparedTo: { source: former } } },
    state: "waiting",
  },
  {
    name: "an error that was said of the values before is shown, and fails nothing",
    status: {
      sync: { comparedTo: { source: former } },
      conditions: [{ type: "ComparisonError", message: "no chart" }],
    },
    state: "waiting",
    message: "ComparisonError: no chart",
  },
  {
    name: "an error of the wanted values is one",
    status: { ...healthy, conditions: [{ type: "ComparisonError", message: "no chart" }] },
    state: "broken",
    message: "ComparisonError: no chart",
  },
  {
    name: "a warning is no error",
    status: { ...healthy, conditions: [{ type: "OrphanedResourceWarning", message: "one" }] },
    state: "healthy",
  },
  { name: "pods are starting", status: { ...healthy, health: { status: "Progressing" } }, state: "progressing" },
  { name: "degraded", status: { ...healthy, health: { status: "Degraded" } }, state: "broken", message: "degraded" },
  { name: "not synced yet", status: { ...healthy, ...unsynced }, state: "waiting" },
  {
    name: "a failed sync of the wanted source",
    status: { ...unsynced, operationState: { phase: "Failed", message: "denied", syncResult: { source } } },
    state: "broken",
    message: "the sync failed: denied",
  },
  {
    name: "a failed sync of the source before is over",
    status: { ...unsynced, operationState: { phase: "Failed", message: "denied", syncResult: { source: former } } },
    state: "waiting",
  },
  { name: "a sync was asked for", status: healthy, operation: { sync: {} }, state: "waiting", message: "syncing" },
  {
    name: "a sync is running",
    status: { ...healthy, operationState: { phase: "Running" } },
    state: "waiting",
    message: "syncing",
  },
  {
    name: "health from before the sync's end is too old",
    status: { ...healthy, reconciledAt: "2026-01-01T00:00:04Z" },
    state: "waiting",
  },
];

describe("what Argo CD says of an application", () => {
  test.each(cases)("$name", ({ status, operation, state, message = "" }) => {
    const judged = observed(keptStatus(status, operation), source);
    expect(judged.state).toBe(state);
    expect(judged.message).toContain(message);
  });

  test("an application that Argo CD has not seen", () => {
    expect(observed({}, source)).toMatchObject({ state: "waiting", revision: "" });
  });

  test("moments and retries wake nobody", () => {
    const later = { ...healthy, reconciledAt: "2026-01-01T09:00:00Z" };
    expect(keptStatus(later, undefined)).toEqual(keptStatus(healthy, undefined));
    const retried = (message: string) =>
      keptStatus({ ...healthy, operationState: { phase: "Running", message } }, undefined);
    expect(retried("retrying attempt #1")).toEqual(retried("retrying attempt #2"));
  });
});
