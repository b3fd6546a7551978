import { describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import { type ArgocdContext, argocdDeployer } from "../../../../../operator/adapters/argocd/deployer.ts";
import { appProjectKind } from "../../../../../operator/adapters/argocd/kinds.ts";
import { secretKind } from "../../../../../operator/kit/client/kinds.ts";
import type { Cluster, DesiredObject, ObservedObject } from "../../../../../operator/ports/cluster.ts";
import type { DesiredApplication } from "../../../../../operator/ports/deployer.ts";
import { memoryCluster } from "../../../../support/doubles/memory/cluster.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { CREATED, UID } from "../../../../support/fixtures/environment/environment-fixture.ts";

const settings = { namespace: "argocd", clusterServer: "https://kubernetes.default.svc" };
const BROKEN_SINCE = new Date(CREATED);
const desired: DesiredApplication = {
  environment: { name: "shop", uid: UID },
  chart: { repoUrl: "https://git.test/chart.git", path: ".", revision: "main" },
  values: {},
  sources: {},
  leavesReplicas: true,
};
const source = {
  repoURL: "https://git.test/chart.git",
  path: ".",
  targetRevision: "main",
  helm: { releaseName: "environment", valuesObject: {} },
};
const comparedTo = { source };
const unsynced = { sync: { status: "OutOfSync", comparedTo }, isCalm: true, failedSync: { message: "denied", source } };
const unrendered = { sync: { comparedTo }, conditions: [{ type: "ComparisonError", message: "no chart" }] };

/** A deployer whose cluster holds this application, or none, and these Jobs, and remembers what was written and deleted. */
function deployer(status: object | undefined = unsynced, jobs: readonly object[] = []) {
  const clock = new TestClock(CREATED);
  const written: DesiredObject[] = [];
  const cluster = {
    observe: () => status && { metadata: { annotations: { ...written.at(-1)?.metadata.annotations } }, status },
    async ensure(_owner: unknown, _kind: unknown, desired: DesiredObject) {
      written.push(desired);
    },
  } as unknown as Cluster;
  const deleted: unknown[] = [];
  const client = {
    list: async (_type: unknown, { namespace }: { namespace: string }) => ({
      items: namespace === "env-shop" ? jobs : [],
    }),
    async delete(_type: unknown, ref: object, { uid }: { uid: string }) {
      deleted.push([ref, uid]);
      return "gone";
    },
  } as unknown as ArgocdContext["client"];
  return { deployer: argocdDeployer({ cluster, client, settings, clock }), clock, written, deleted };
}

describe("a broken application is asked to try again", () => {
  test("after 15 s, then each time when the failure is twice as old, at last every 10 minutes", async () => {
    const { deployer: argocd, clock, written } = deployer();
    const requested: number[] = [];
    while (requested.length < 9) {
      const before = written.length;
      const nextInMs = await argocd.retry(desired, BROKEN_SINCE);
      if (written.length > before) requested.push((clock.now().getTime() - BROKEN_SINCE.getTime()) / 1000);
      clock.advance(nextInMs);
    }
    expect(requested).toEqual([15, 30, 60, 120, 240, 480, 960, 1560, 2160]);
  });

  test("once, however many reconciles and processes write it", async () => {
    const { deployer: argocd, clock, written } = deployer();
    clock.advance(15_000);
    for (let pass = 0; pass < 5; pass += 1) await argocd.retry(desired, BROKEN_SINCE);
    expect(written).toHaveLength(1);
  });

  test("soon for a new failure, whenever it was asked for an old one", async () => {
    const { deployer: argocd, clock, written } = deployer();
    clock.advance(480_000);
    await argocd.retry(desired, BROKEN_SINCE);
    clock.advance(3_600_000);
    expect(await argocd.retry(desired, clock.now())).toBe(15_000);
    expect(written).toHaveLength(1);
  });

  test.each([
    { name: "the failure began", retriedBefore: false },
    { name: "it was asked", retriedBefore: true },
  ])("soon, and no more often, when the clock was set back since $name", async ({ retriedBefore }) => {
    const { deployer: argocd, clock, written } = deployer();
    clock.advance(15_000);
    if (retriedBefore) await argocd.retry(desired, BROKEN_SINCE);
    const before = written.length;
    clock.setBack(3_600_000);
    let waitedMs = 0;
    while (waitedMs < 3_600_000) {
      const nextInMs = await argocd.retry(desired, BROKEN_SINCE);
      clock.advance(nextInMs);
      waitedMs += nextInMs;
    }
    expect(written.length - before).toBeGreaterThanOrEqual(6);
    expect(written.length - before).toBeLessThanOrEqual(20);
  });

  test("by a sync of the branch's newest commit when one failed", async () => {
    const { deployer: argocd, clock, written } = deployer();
    clock.advance(15_000);
    await argocd.retry(desired, BROKEN_SINCE);
    expect(written[0]).toMatchObject({ spec: { source }, operation: { sync: { prune: true } } });
    expect(written[0]).not.toHaveProperty("operation.sync.revision");
    expect(written[0]?.metadata.annotations).not.toHaveProperty(["argocd.argoproj.io/refresh"]);
  });

  test("by a look that forgets the failed rendering when there are no manifests", async () => {
    const { deployer: argocd, clock, written } = deployer(unrendered);
    clock.advance(15_000);
    await argocd.retry(desired, BROKEN_SINCE);
    expect(written[0]?.metadata.annotations).toMatchObject({ "argocd.argoproj.io/refresh": "hard" });
    expect(written[0]).not.toHaveProperty("operation");
  });
});

describe("a sync that runs", () => {
  const startedAt = "2026-01-01T00:00:00Z";
  /** A deployer with its application in this phase, and the writes to the application. */
  function syncing(phase: string, isCalm = false) {
    const done: unknown[] = [];
    const cluster = {
      observe: () => ({ metadata: {}, status: { isCalm } }),
      read: async () => ({ metadata: {}, status: { operationState: { phase, startedAt } } }),
      async change(_owner: unknown, _kind: unknown, ref: object, patch: unknown) {
        done.push([ref, patch]);
      },
      async remove() {
        done.push("removed");
        return { state: "gone" };
      },
    } as unknown as Cluster;
    const client = {} as ArgocdContext["client"];
    return { argocd: argocdDeployer({ cluster, client, settings, clock: new TestClock(CREATED) }), done };
  }
  const ending = [
    { name: "env-shop", namespace: "argocd" },
    [
      { op: "test", path: "/status/operationState/startedAt", value: startedAt },
      { op: "test", path: "/status/operationState/phase", value: "Running" },
      { op: "replace", path: "/status/operationState/phase", value: "Terminating" },
    ],
  ];

  test("is ended, and no other that has begun since", async () => {
    const { argocd, done } = syncing("Running");
    await argocd.endSync(desired.environment);
    expect(done).toEqual([ending]);
  });

  test.each([
    { name: "is ended already", phase: "Terminating", isCalm: false },
    { name: "is over", phase: "Succeeded", isCalm: false },
    { name: "the watch knows nothing of", phase: "Running", isCalm: true },
  ])("that $name is left alone", async ({ phase, isCalm }) => {
    const { argocd, done } = syncing(phase, isCalm);
    await argocd.endSync(desired.environment);
    expect(done).toEqual([]);
  });

  test("is ended before its application is deleted, which it would hold up", async () => {
    const { argocd, done } = syncing("Running");
    await argocd.remove(desired.environment);
    expect(done).toEqual([ending, "removed"]);
  });
});

test.each(["main", "dependabot/npm_and_yarn/@types/node-22", "größe#2", "@"])(
  "the branch %s is read from the application as it was written there",
  async (branch) => {
    const { deployer: argocd } = deployer();
    const sources = { backend: { branch, commit: "a".repeat(40) } };
    await argocd.ensure({ ...desired, sources });
    expect(argocd.deployedSources(desired.environment)).toEqual(sources);
  },
);

describe("replicas that an autoscaler set", () => {
  const autoscaled = ["Deployment", "StatefulSet"].map((kind) => ({
    group: "apps",
    kind,
    managedFieldsManagers: ["kube-controller-manager"],
  }));

  test("are left to it, by every sync", async () => {
    const { deployer: argocd, clock, written } = deployer();
    await argocd.ensure(desired);
    clock.advance(15_000);
    await argocd.retry(desired, BROKEN_SINCE);
    const syncOptions = ["CreateNamespace=false", "RespectIgnoreDifferences=true"];
    expect(written).toEqual([
      expect.objectContaining({ spec: expect.objectContaining({ ignoreDifferences: autoscaled }) }),
      expect.objectContaining({ operation: expect.objectContaining({ sync: { prune: true, syncOptions } }) }),
    ]);
    expect(written[0]).toMatchObject({ spec: { syncPolicy: { syncOptions } } });
  });

  test("are put back where they are not to stay", async () => {
    const { deployer: argocd, written } = deployer();
    await argocd.ensure({ ...desired, leavesReplicas: false });
    expect(written[0]).toMatchObject({ spec: { syncPolicy: { syncOptions: ["CreateNamespace=false"] } } });
    expect(written[0]).not.toHaveProperty("spec.ignoreDifferences");
  });
});

describe("a Job that a sync could not change", () => {
  const startedAt = "2026-01-01T00:10:00Z";
  const unchangedJobs = { startedAt, names: ["migrate"] };
  const trying = { isCalm: false, unchangedJobs };
  const tracking = { "argocd.argoproj.io/tracking-id": "env-shop:batch/Job:env-shop/migrate" };
  const ended = (type: string, status = "True") => ({ conditions: [{ type, status }] });
  const migrate = ({ metadata = {}, spec = { ttlSecondsAfterFinished: 5 }, status = ended("Complete") }) => {
    const own = { name: "migrate", uid: "u-1", creationTimestamp: "2026-01-01T00:00:00Z", annotations: tracking };
    return { metadata: { ...own, ...metadata }, spec, status };
  };
  const named = { kind: "Job", name: "migrate" };
  const removal = [{ name: "migrate", namespace: "env-shop" }, "u-1"];

  test.each([
    { name: "has ended", job: migrate({}) },
    { name: "has failed", job: migrate({ status: ended("Failed") }) },
    {
      name: "carries Argo CD's label",
      job: migrate({ metadata: { annotations: {}, labels: { "app.kubernetes.io/instance": "env-shop" } } }),
    },
  ])("is deleted where it has a TTL and $name; the sync that runs makes it anew", async ({ job }) => {
    const { deployer: argocd, written, deleted } = deployer(trying, [job]);
    expect(await argocd.replaceJobs(desired)).toEqual([]);
    expect(deleted).toEqual([removal]);
    expect(written).toEqual([]);
  });

  test.each([
    { name: "runs, and is awaited", job: migrate({ status: { conditions: [] } }), awaited: [named] },
    { name: "is suspended, and is awaited", job: migrate({ status: ended("Suspended") }), awaited: [named] },
    {
      name: "has not failed yet, and is awaited",
      job: migrate({ status: ended("Failed", "False") }),
      awaited: [named],
    },
    { name: "has no TTL", job: migrate({ spec: {} as never }) },
    { name: "was made by that very sync", job: migrate({ metadata: { creationTimestamp: startedAt } }) },
    { name: "goes already", job: migrate({ metadata: { deletionTimestamp: startedAt } }) },
    { name: "could be changed", job: migrate({ metadata: { name: "seed" } }) },
    { name: "is of no application", job: migrate({ metadata: { annotations: {} } }) },
    {
      name: "is of another application",
      job: migrate({
        metadata: { annotations: { "argocd.argoproj.io/tracking-id": "env-shop-2:batch/Job:x/migrate" } },
      }),
    },
  ])("is left alone where it $name", async ({ job, awaited = [] }) => {
    const { deployer: argocd, written, deleted } = deployer({ ...unsynced, unchangedJobs }, [job]);
    expect(await argocd.replaceJobs(desired)).toEqual(awaited);
    expect(deleted).toEqual([]);
    expect(written).toEqual([]);
  });

  test("has the sync tried again at once where Argo CD has given up", async () => {
    const { deployer: argocd, written, deleted } = deployer({ ...unsynced, unchangedJobs }, [migrate({})]);
    await argocd.replaceJobs(desired);
    expect(deleted).toEqual([removal]);
    expect(written.map(({ operation }) => operation !== undefined)).toEqual([true]);
  });

  test("is not looked for where all could be changed", async () => {
    const { deployer: argocd, deleted } = deployer(unsynced, [migrate({})]);
    await argocd.replaceJobs(desired);
    expect(deleted).toEqual([]);
  });
});

describe("the login at a chart's place", () => {
  const { environment, chart } = desired;
  const login = (password: string) => ({ source: "shop@latest", credential: new Sensitive(`reader:${password}`) });
  const applied = (objects: readonly DesiredObject[]) => objects.filter(({ kind }) => kind === "Application");
  const refresh = (object: DesiredObject | undefined) => object?.metadata.annotations?.["argocd.argoproj.io/refresh"];

  /** A deployer whose environment has a project, and an application that can't be rendered. */
  function logged() {
    const clock = new TestClock(CREATED);
    const cluster = memoryCluster();
    const written: DesiredObject[] = [];
    const watched: Cluster = {
      ...cluster,
      observe: (owner, kind, ref) =>
        kind.kind === "Application"
          ? ({ metadata: {}, status: unrendered } as unknown as ObservedObject)
          : cluster.observe(owner, kind, ref),
      async ensure(owner, kind, desired) {
        written.push(desired);
        if (kind.kind === "Application") return "unchanged";
        await cluster.overwrite(owner, kind, desired);
        return "unchanged";
      },
    };
    const settings = { namespace: "argocd", clusterServer: "https://kubernetes.default.svc" };
    const client = {} as ArgocdContext["client"];
    return { argocd: argocdDeployer({ cluster: watched, client, settings, clock }), clock, cluster, written };
  }

  test("that changed has a failed rendering tried at once, and no login of before", async () => {
    const { argocd, written } = logged();
    for (const password of ["one", "one", "two"]) {
      await argocd.ensureProject(environment, chart, login(password));
      await argocd.ensure(desired);
      await argocd.ensure(desired);
    }
    expect(applied(written).map(refresh)).toEqual(["hard", undefined, undefined, undefined, "hard", undefined]);
  });

  test("is as old as its last writing, and unknown for another credential, place or project", async () => {
    const { argocd, clock, cluster } = logged();
    const age = (source = "shop@latest", at = chart) => argocd.loginAgeMs(environment, at, source);
    expect(age()).toBe(Infinity);
    await argocd.ensureProject(environment, chart, login("one"));
    clock.advance(5_000);
    expect(age()).toBe(5_000);
    expect(age("shop@2")).toBe(Infinity);
    expect(age("shop@latest", { ...desired.chart, repoUrl: "https://git.test/other.git" })).toBe(Infinity);
    await argocd.ensureProject(environment, chart, { source: "shop@latest" });
    expect(age()).toBe(5_000);
    const ref = { name: "env-shop", namespace: "argocd" };
    await cluster.remove(environment, appProjectKind, ref);
    expect(age()).toBe(Infinity);
  });

  test("goes with the project, and when none is wanted any more; nothing is asked of one that never was", async () => {
    const { argocd, cluster } = logged();
    await argocd.ensureProject(environment, chart);
    await argocd.removeProject(environment);
    expect(cluster.looks(secretKind)).toBe(0);
    await argocd.ensureProject(environment, chart, login("one"));
    expect(cluster.titles()).toEqual(["AppProject/env-shop", "Secret/env-shop"]);
    await argocd.ensureProject(environment, chart);
    expect(cluster.titles()).toEqual(["AppProject/env-shop"]);
    const looks = cluster.looks(secretKind);
    await argocd.ensureProject(environment, chart);
    expect(cluster.looks(secretKind)).toBe(looks);
    await argocd.ensureProject(environment, chart, login("one"));
    cluster.hold(secretKind, { name: "env-shop", namespace: "argocd" }, ["example.test/hold"]);
    expect(await argocd.removeProject(environment)).toMatchObject({ state: "removing" });
    expect(cluster.titles()).toContain("AppProject/env-shop");
    cluster.hold(secretKind, { name: "env-shop", namespace: "argocd" }, []);
    expect(await argocd.removeProject(environment)).toEqual({ state: "gone" });
    expect(cluster.titles()).toEqual([]);
  });
});
