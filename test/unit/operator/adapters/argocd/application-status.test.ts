import { describe, expect, test } from "@jest/globals";
import {
  type ApplicationStatus,
  keptStatus,
  observed,
} from "../../../../../operator/adapters/argocd/application-status.ts";

const source = { repoURL: "https://git.example.test/chart.git", helm: { valuesObject: { a: 1 } } };
const former = { ...source, helm: { valuesObject: { a: 0 } } };
const healthy: ApplicationStatus = {
  sync: { status: "Synced", revision: "abc", comparedTo: { source } },
  health: { status: "Healthy" },
  operationState: { phase: "Succeeded", finishedAt: "2026-01-01T00:00:05Z", syncResult: { source } },
  reconciledAt: "2026-01-01T00:00:06Z",
};
const DOWN = 'rpc error: code = Unavailable desc = connection error: desc = "transport: connection refused"';
/** As Argo CD 3.5 reports it; the temporary file is another one each time. */
const rendering = (file: string) =>
  "Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = " +
  "Manifest generation error (cached): failed to execute helm template command: failed to get command args to log: " +
  `\`helm template . --name-template environment --namespace env-shop --values /tmp/${file} --include-crds\` failed ` +
  "exit status 1: Error: execution error at (environment/templates/deployment.yaml:3:4): no image";
/** As the API server's quota admission says it. */
const UNCOUNTED = 'services "a" is forbidden: status unknown for quota: environment, resources: count/services';
const unsynced = { sync: { ...healthy.sync, status: "OutOfSync" } };

const cases: readonly {
  name: string;
  status: ApplicationStatus;
  operation?: object;
  state: string;
  problem?: string;
  message?: string;
}[] = [
  { name: "nothing was said yet", status: {}, state: "unseen", message: "to compare" },
  { name: "synced and healthy on the wanted source", status: healthy, state: "healthy" },
  {
    name: "healthy on the values before says nothing of those wanted",
    status: { ...healthy, sync: { ...healthy.sync, comparedTo: { source: former } } },
    state: "unseen",
  },
  {
    name: "an error that was said of the values before is shown, and fails nothing",
    status: {
      sync: { comparedTo: { source: former } },
      conditions: [{ type: "ComparisonError", message: "no chart" }],
    },
    state: "unseen",
    message: "ComparisonError: no chart",
  },
  {
    name: "an error of the wanted values is one",
    status: { ...healthy, conditions: [{ type: "ComparisonError", message: "no chart" }] },
    ...{ state: "broken", problem: "ChartInvalid" },
    message: "ComparisonError: no chart",
  },
  {
    name: "a repo-server that is down is not the chart's fault",
    status: { ...healthy, conditions: [{ type: "ComparisonError", message: `Failed to load target state: ${DOWN}` }] },
    ...{ state: "broken", problem: "DeployerUnavailable" },
    message: "connection refused",
  },
  {
    name: "a chart that doesn't render is told by Helm's own words alone",
    status: { ...healthy, conditions: [{ type: "ComparisonError", message: rendering("a1b2") }] },
    ...{ state: "broken", problem: "ChartInvalid" },
    message:
      "Argo CD says ComparisonError: Error: execution error at (environment/templates/deployment.yaml:3:4): no image",
  },
  {
    name: "what a sync could not apply is named, object by object, whatever the order",
    status: {
      ...unsynced,
      operationState: {
        ...{ phase: "Failed", message: "one or more objects failed to apply" },
        syncResult: {
          source,
          resources: [
            { kind: "Service", name: "b", status: "SyncFailed", message: "bad port" },
            { kind: "ConfigMap", name: "c", status: "Synced", message: "created" },
            { kind: "Ingress", name: "a", status: "SyncFailed", message: "bad host" },
          ],
        },
      },
    },
    ...{ state: "broken", problem: "SyncFailed" },
    message: "Ingress 'a': bad host; Service 'b': bad port",
  },
  {
    name: "what the quota refused",
    status: {
      ...unsynced,
      operationState: {
        ...{ phase: "Failed", message: 'persistentvolumeclaims "a" is forbidden: exceeded quota: environment' },
        syncResult: { source },
      },
    },
    ...{ state: "broken", problem: "QuotaExceeded" },
    message: "exceeded quota",
  },
  {
    name: "what a quota that was not counted yet refused",
    status: {
      ...unsynced,
      operationState: {
        ...{ phase: "Failed", message: "one or more objects failed to apply" },
        syncResult: {
          source,
          resources: [{ kind: "Service", name: "a", status: "SyncFailed", message: UNCOUNTED }],
        },
      },
    },
    ...{ state: "broken", problem: "QuotaUncounted" },
    message: "has not counted the environment's quota yet, and takes nothing before",
  },
  {
    name: "Argo CD's refusal to sync again",
    status: { ...unsynced, conditions: [{ type: "SyncError", message: "Failed last sync attempt" }] },
    ...{ state: "broken", problem: "SyncFailed" },
    message: "Failed last sync attempt",
  },
  {
    name: "a refusal to sync again that a running sync may lift",
    status: {
      ...unsynced,
      ...{ conditions: [{ type: "SyncError", message: "Failed last sync attempt" }] },
      operationState: { phase: "Running" },
    },
    state: "waiting",
  },
  {
    name: "a warning is no error",
    status: { ...healthy, conditions: [{ type: "OrphanedResourceWarning", message: "one" }] },
    state: "healthy",
  },
  { name: "pods are starting", status: { ...healthy, health: { status: "Progressing" } }, state: "progressing" },
  {
    name: "degraded",
    status: { ...healthy, health: { status: "Degraded" } },
    ...{ state: "broken", problem: "DeploymentFailed", message: "degraded" },
  },
  { name: "not synced yet", status: { ...healthy, ...unsynced }, state: "waiting" },
  {
    name: "a failed sync of the wanted source",
    status: { ...unsynced, operationState: { phase: "Failed", message: "denied", syncResult: { source } } },
    state: "broken",
    ...{ problem: "SyncFailed", message: "did not take all that the chart makes: denied" },
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
  test.each(cases)("$name", ({ status, operation, state, problem, message = "" }) => {
    const judged = observed(keptStatus(status, operation), source);
    expect(judged).toMatchObject({ state, ...(problem === undefined ? {} : { problem }) });
    expect(judged.message).toContain(message);
  });

  test("an application that Argo CD has not seen", () => {
    expect(observed({}, source)).toMatchObject({ state: "unseen", revision: "" });
  });

  test("says since when it is as healthy as it is, where Argo CD does", () => {
    const lastTransitionTime = "2026-01-01T00:00:09Z";
    const said = { ...healthy, health: { status: "Healthy", lastTransitionTime } };
    expect(observed(keptStatus(said, undefined), source).since).toEqual(new Date(lastTransitionTime));
    expect(observed(keptStatus(healthy, undefined), source)).not.toHaveProperty("since");
  });

  test("moments and retries wake nobody", () => {
    const later = { ...healthy, reconciledAt: "2026-01-01T09:00:00Z" };
    expect(keptStatus(later, undefined)).toEqual(keptStatus(healthy, undefined));
    const retried = (message: string) =>
      keptStatus({ ...healthy, operationState: { phase: "Running", message } }, undefined);
    const broken = (message: string) =>
      keptStatus({ ...healthy, conditions: [{ type: "ComparisonError", message }] }, undefined);
    expect(broken(rendering("a1b2"))).toEqual(broken(rendering("c3d4")));
    expect(broken("read tcp 127.0.0.1:38152->127.0.0.1:18081")).toEqual(
      broken("read tcp 127.0.0.1:2->127.0.0.1:18081"),
    );
    expect(retried("retrying attempt #1")).toEqual(retried("retrying attempt #2"));
  });
});
