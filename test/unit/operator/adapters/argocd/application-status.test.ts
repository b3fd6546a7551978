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
/** A report of Argo CD 3.5; the temporary file's name varies. */
const rendering = (file: string) =>
  "Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = " +
  "Manifest generation error (cached): failed to execute helm template command: failed to get command args to log: " +
  `\`helm template . --name-template environment --namespace env-shop --values /tmp/${file} --include-crds\` failed ` +
  "exit status 1: Error: execution error at (environment/templates/deployment.yaml:3:4): no image";
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
    state: "broken",
    problem: "ChartInvalid",
    message: "ComparisonError: no chart",
  },
  ...[
    "failed to list refs: authentication required: Unauthorized",
    "fatal: could not read Username for 'https://git.test': terminal prompts disabled",
    "fatal: Authentication failed for 'https://git.test/shop.git/'",
    "failed to fetch https://charts.test/index.yaml : 401 Unauthorized",
    'HEAD "https://registry.test/v2/shop/manifests/1.0.0": basic credential not found',
    "GET https://registry.test/v2/: response status code 403: denied",
  ].map((message) => ({
    name: `a place that can't be read is named with what helps: ${message}`,
    status: { ...healthy, conditions: [{ type: "ComparisonError", message }] },
    state: "broken" as const,
    problem: "ChartInvalid" as const,
    message: `name a credential of it in chart.credentialsRef, or renew that credential in the secret manager; Argo CD says ComparisonError: ${message}`,
  })),
  {
    name: "a repo-server that is down is not the chart's fault",
    status: { ...healthy, conditions: [{ type: "ComparisonError", message: `Failed to load target state: ${DOWN}` }] },
    state: "broken",
    problem: "DeployerUnavailable",
    message: "connection refused",
  },
  {
    name: "a chart that doesn't render is reported in Helm's own words alone",
    status: { ...healthy, conditions: [{ type: "ComparisonError", message: rendering("a1b2") }] },
    state: "broken",
    problem: "ChartInvalid",
    message:
      "Argo CD says ComparisonError: Error: execution error at (environment/templates/deployment.yaml:3:4): no image",
  },
  {
    name: "what a sync could not apply is named, object by object, whatever the order",
    status: {
      ...unsynced,
      operationState: {
        phase: "Failed",
        message: "one or more objects failed to apply",
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
    state: "broken",
    problem: "SyncFailed",
    message: "Ingress/a: bad host; Service/b: bad port",
  },
  {
    name: "what the quota refused",
    status: {
      ...unsynced,
      operationState: {
        phase: "Failed",
        message: 'persistentvolumeclaims "a" is forbidden: exceeded quota: environment',
        syncResult: { source },
      },
    },
    state: "broken",
    problem: "QuotaExceeded",
    message: "exceeded quota",
  },
  {
    name: "what a quota that was not counted yet refused",
    status: {
      ...unsynced,
      operationState: {
        phase: "Failed",
        message: "one or more objects failed to apply",
        syncResult: {
          source,
          resources: [{ kind: "Service", name: "a", status: "SyncFailed", message: UNCOUNTED }],
        },
      },
    },
    state: "broken",
    problem: "QuotaUncounted",
    message: "has not counted the environment's quota yet, and takes nothing before",
  },
  {
    name: "Argo CD's refusal to sync again",
    status: { ...unsynced, conditions: [{ type: "SyncError", message: "Failed last sync attempt" }] },
    state: "broken",
    problem: "SyncFailed",
    message: "Failed last sync attempt",
  },
  {
    name: "a refusal to sync again that a running sync may lift",
    status: {
      ...unsynced,
      conditions: [{ type: "SyncError", message: "Failed last sync attempt" }],
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
    state: "broken",
    problem: "DeploymentFailed",
    message: "degraded",
  },
  { name: "not synced yet", status: { ...healthy, ...unsynced }, state: "waiting" },
  {
    name: "a failed sync of the wanted source",
    status: { ...unsynced, operationState: { phase: "Failed", message: "denied", syncResult: { source } } },
    state: "broken",
    problem: "SyncFailed",
    message: "did not take all that the chart makes: denied",
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

type SyncedResources = NonNullable<
  NonNullable<NonNullable<ApplicationStatus["operationState"]>["syncResult"]>["resources"]
>;

/** A report of Argo CD 3.5 on a running or failed Helm hook. */
const hook = (hookPhase: string, message: string) => ({
  group: "batch",
  version: "v1",
  kind: "Job",
  namespace: "env-shop",
  name: "migrate",
  syncPhase: "PreSync",
  hookType: "PreSync",
  hookPhase,
  message,
});
const applied = {
  kind: "Service",
  name: "backend",
  status: "Synced",
  hookPhase: "Running",
  message: "service/backend created",
};
const waitingFor = (what: string, resources: SyncedResources, of: object = source, revision = "abc") => ({
  ...unsynced,
  operationState: {
    phase: "Running",
    startedAt: "2026-01-01T00:00:01Z",
    message: `waiting for ${what}`,
    syncResult: { source: of, revision, resources },
  },
});
const onHook = waitingFor("completion of hook batch/Job/migrate", [applied, hook("Running", "")]);
const observedOf = (status: ApplicationStatus) => observed(keptStatus(status, undefined), source);

describe("a sync of Argo CD", () => {
  test("that waits says since when and for which hook", () => {
    expect(observedOf(onHook).waitingSync).toEqual({
      since: new Date("2026-01-01T00:00:01Z"),
      isOutdated: false,
      objects: [{ kind: "Job", name: "migrate", hook: "PreSync" }],
    });
  });

  test("that waits for no hook says for which objects", () => {
    const { waitingSync } = observedOf(waitingFor("healthy state of apps/StatefulSet/cache", [applied]));
    expect(waitingSync?.objects).toEqual([{ kind: "Service", name: "backend" }]);
  });

  test.each([
    { name: "another source is wanted", status: waitingFor("completion of hook batch/Job/migrate", [], former) },
    {
      name: "another commit of the chart is compared",
      status: waitingFor("completion of hook batch/Job/migrate", [], source, "def"),
    },
  ])("is outdated once $name", ({ status }) => {
    expect(observedOf(status).waitingSync?.isOutdated).toBe(true);
  });

  const betweenAttempts = (of: object) => ({
    ...unsynced,
    operationState: {
      phase: "Running",
      startedAt: "2026-01-01T00:00:01Z",
      message: "one or more synchronization tasks completed unsuccessfully. Retrying attempt #2 at 12:01PM.",
      syncResult: { source: of, revision: "abc", resources: [applied] },
    },
  });

  test("that will be tried again is outdated with another source, in its pauses alone", () => {
    const paused = betweenAttempts(former);
    expect(observedOf(paused).hasOutdatedRetries).toBe(true);
    expect(observedOf(betweenAttempts(source)).hasOutdatedRetries).toBe(false);
    const attempt = {
      ...paused,
      operationState: { ...paused.operationState, message: "Retrying operation. Attempt #2" },
    };
    expect(observedOf(attempt).hasOutdatedRetries).toBe(false);
    const ended = { ...paused, operationState: { ...paused.operationState, phase: "Terminating" } };
    expect(observedOf(ended).hasOutdatedRetries).toBe(false);
  });

  test.each([
    { name: "applies", operationState: { ...onHook.operationState, message: "one or more tasks are running" } },
    { name: "is being ended", operationState: { ...onHook.operationState, phase: "Terminating" } },
    { name: "is over", operationState: { ...onHook.operationState, phase: "Succeeded" } },
  ])("that $name waits for nothing", ({ operationState }) => {
    expect(observedOf({ ...unsynced, operationState })).not.toHaveProperty("waitingSync");
  });

  test.each([
    { message: "Job has reached the specified backoff limit", words: "Job has reached the specified backoff limit" },
    { message: "Terminated", words: "it was ended before it was done" },
  ])("whose hook failed names it: $message", ({ message, words }) => {
    const operationState = {
      phase: "Failed",
      message: "one or more synchronization tasks completed unsuccessfully (retried 3 times).",
      syncResult: { source, resources: [applied, hook("Failed", message)] },
    };
    expect(observedOf({ ...unsynced, operationState })).toMatchObject({
      state: "broken",
      problem: "SyncFailed",
      failedHooks: [{ kind: "Job", name: "migrate", hook: "PreSync" }],
      message: `the cluster did not take all that the chart makes: Job/migrate (hook PreSync): ${words}`,
    });
  });

  test("that was ended for another commit of the chart fails nothing", () => {
    const syncResult = { source, revision: "def", resources: [hook("Failed", "Terminated")] };
    const operationState = { phase: "Failed", message: "Operation terminated", syncResult };
    expect(observedOf({ ...unsynced, operationState }).state).toBe("waiting");
  });

  test("that can't change a Job shows the end of Kubernetes' words, after the way out", () => {
    const dump = "core.PodTemplateSpec{".padEnd(6_000, "x");
    const said = `Job.batch "seed" is invalid: spec.template: Invalid value: ${dump}: field is immutable`;
    const resources = [{ kind: "Job", name: "seed", status: "SyncFailed", message: said }];
    const operationState = {
      phase: "Failed",
      message: "one or more objects failed",
      syncResult: { source, resources },
    };
    const { message } = observedOf({ ...unsynced, operationState });
    expect(message).toMatch(
      /: Job\/seed: it can't be changed: .*Force=true,Replace=true, make it a hook, or give it ttlSecondsAfterFinished, .* has ended; Job.batch/,
    );
    expect(message).toMatch(/: field is immutable$/);
    expect(message.length).toBeLessThan(1_200);
  });

  test.each([
    { name: "tries again", phase: "Running", finishedAt: "2026-01-01T00:00:09Z" },
    { name: "has given up", phase: "Failed", finishedAt: "2026-01-01T00:00:09Z" },
  ])("that can't change Jobs and $name names them, but no hooks and nothing else", ({ phase, finishedAt }) => {
    const immutable = "spec.template: Invalid value: …: field is immutable";
    const resources = [
      { kind: "Job", name: "seed", status: "SyncFailed", message: immutable },
      { kind: "Job", name: "migrate", status: "SyncFailed", message: immutable },
      { kind: "Job", name: "backup", status: "SyncFailed", message: "exceeded quota" },
      { kind: "Job", name: "test", status: "SyncFailed", message: immutable, hookType: "PostSync" },
      { kind: "StatefulSet", name: "cache", status: "SyncFailed", message: immutable },
      { kind: "Job", name: "done", status: "Synced", message: "job.batch/done unchanged" },
    ];
    const startedAt = "2026-01-01T00:00:01Z";
    const operationState = { phase, startedAt, finishedAt, syncResult: { source, resources } };
    const { unchangedJobs } = keptStatus({ ...unsynced, operationState }, undefined);
    expect(unchangedJobs).toEqual({ startedAt, names: ["migrate", "seed"] });
  });

  test("that failed does not fail the application while another is requested", () => {
    const operationState = { phase: "Failed", message: "denied", syncResult: { source } };
    const status = { ...unsynced, operationState };
    expect(observed(keptStatus(status, undefined), source).state).toBe("broken");
    expect(observed(keptStatus(status, { sync: {} }), source).state).toBe("waiting");
  });

  test("that puts the same object back again and again names it", () => {
    const healed = (autoHealAttemptsCount: number) => {
      const sync = { autoHealAttemptsCount, resources: [{ group: "batch", kind: "Job", name: "seed" }] };
      return observedOf({ ...healthy, operationState: { ...healthy.operationState, operation: { sync } } })
        .keepsChanging;
    };
    expect(healed(2)).toEqual([]);
    expect(healed(3)).toEqual([{ kind: "Job", name: "seed" }]);
  });

  test("makes each kind of the chart known once", () => {
    const resources = ["Service", "Deployment", "Service"].map((kind, index) => ({ kind, name: `a${index}` }));
    expect(observedOf({ ...healthy, resources }).kinds).toEqual(["Deployment", "Service"]);
  });
});

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

  test("moments and retries wake no reconcile", () => {
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
