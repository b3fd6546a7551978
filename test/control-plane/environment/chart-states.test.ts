import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type ConditionType, findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { environmentType, recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { type WireObject, wireKind } from "../../../operator/kit/client/kinds.ts";
import type { Draft } from "../../../operator/kit/client/objects.ts";
import { jobObject, jobStatus } from "../../support/fixtures/environment/workload-objects.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.startOperator();
}, 180_000);
afterAll(() => world.stop(), 60_000);

const NEXT = "b".repeat(40);
const conditionOf = (type: ConditionType, { status }: EphemeralEnvironment) => findCondition(status?.conditions, type);

async function messageOf(name: string, type: ConditionType, reason: string): Promise<string> {
  const found = await world.expectState(
    name,
    `saying ${reason}`,
    (environment) => conditionOf(type, environment)?.reason === reason,
  );
  return conditionOf(type, found)?.message ?? "";
}

/** An environment whose application is blocked by a hook, except with the next commit. */
async function hooked(name: string): Promise<EphemeralEnvironment> {
  world.argocd.decide(name, ({ backend }) =>
    (backend as { image: string }).image.endsWith(NEXT) ? "healthy" : "hooked",
  );
  return world.create(name);
}

describe("a hook that never ends", () => {
  test("is named, and ended by a newer spec", async () => {
    await hooked("hooked");
    expect(await messageOf("hooked", "ApplicationSynced", "HookRunning")).toBe(
      "the sync waits for Job/migrate (hook PreSync) to end, for 900 s at most",
    );
    const backend = { ...backendOnly.backend, commit: NEXT };
    await world.admin.patch(environmentType, { name: "hooked" }, { spec: { backend } }, { as: "merge" });
    await world.expectPhase("hooked", "ready");
  }, 60_000);

  test("is ended by the deletion of its environment, which nothing takes over", async () => {
    const made = await hooked("hooked-deleted");
    await messageOf("hooked-deleted", "ApplicationSynced", "HookRunning");
    await world.delete(made);
    await world.expectGone(made);
    const record = await world.admin.find(recordType, { name: made.metadata.uid, namespace: "ephemeral-system" });
    expect(record?.spec.takenOver).toBeUndefined();
  }, 60_000);
});

const autoscalerKind = wireKind({
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  namespaced: true,
});
const statefulSetKind = wireKind({
  group: "apps",
  version: "v1",
  kind: "StatefulSet",
  plural: "statefulsets",
  namespaced: true,
});
const cronJobKind = wireKind({ group: "batch", version: "v1", kind: "CronJob", plural: "cronjobs", namespaced: true });

const jobKind = wireKind({ group: "batch", version: "v1", kind: "Job", plural: "jobs", namespaced: true });
const TTL = { ttlSecondsAfterFinished: 5 };

const eventKind = wireKind({ group: "", version: "v1", kind: "Event", plural: "events", namespaced: true });
const SINCE = "2026-01-01T00:00:00Z";
const REFUSED =
  'create Pod cache-0 in StatefulSet cache failed error: pods "cache-0" is forbidden: violates PodSecurity "restricted:latest"';

async function unwell(name: string, fate: "degraded" | "progressing"): Promise<string> {
  world.argocd.decide(name, () => fate);
  await world.create(name);
  const isMade = (found: EphemeralEnvironment) => conditionOf("ApplicationSynced", found) !== undefined;
  await world.expectState(name, "having an application", isMade);
  return `env-${name}`;
}

test("an autoscaler that gets no figures keeps no environment from being ready, and is named", async () => {
  const namespace = await unwell("scaled", "degraded");
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "missing" };
  await world.admin.create(autoscalerKind, {
    metadata: { name: "backend", namespace },
    spec: { maxReplicas: 3, scaleTargetRef },
  });
  // Written as by its controller, which does not run here.
  const silent = {
    type: "ScalingActive",
    status: "False",
    reason: "FailedGetResourceMetric",
    message: "no metrics API",
  };
  const status = { desiredReplicas: 1, conditions: [{ ...silent, lastTransitionTime: SINCE }] };
  const asStatus = { as: "merge", subresource: "status" } as const;
  await world.admin.patch(autoscalerKind, { name: "backend", namespace }, { status }, asStatus);
  const ready = await world.hurried(() => world.expectPhase("scaled", "ready"));
  const message = await messageOf("scaled", "ResourcesHealthy", "Unhealthy");
  expect(message).toMatch(/^HorizontalPodAutoscaler\/backend can't scale: no metrics API: install a metrics server/);
  expect(conditionOf("Ready", ready)).toMatchObject({ status: "True", message: "" });
  world.argocd.decide("scaled", () => "healthy");
  await world.expectState("scaled", "well", (found) => conditionOf("ResourcesHealthy", found) === undefined);
}, 60_000);

test("an update does not wait for a CronJob whose last run failed, which is named", async () => {
  await world.create("scheduled");
  await world.expectPhase("scheduled", "ready");
  const template = {
    spec: {
      automountServiceAccountToken: false,
      restartPolicy: "Never",
      containers: [{ name: "report", image: "example.test/report:1" }],
    },
  };
  const place = { name: "report", namespace: "env-scheduled" };
  await world.admin.create(cronJobKind, {
    metadata: place,
    spec: { schedule: "0 0 * * *", jobTemplate: { spec: { template } } },
  });
  // Written as by its controller, which does not run here.
  const status = { lastSuccessfulTime: "2025-12-31T00:00:05Z", lastScheduleTime: SINCE };
  await world.admin.patch(cronJobKind, place, { status }, { as: "merge", subresource: "status" });
  world.argocd.decide("scheduled", () => "degraded");
  const backend = { ...backendOnly.backend, commit: NEXT };
  await world.admin.patch(environmentType, { name: "scheduled" }, { spec: { backend } }, { as: "merge" });
  const isUpdated = ({ status: found }: EphemeralEnvironment) =>
    found?.phase === "ready" && found.components?.backend?.commit === NEXT;
  await world.hurried(() => world.expectState("scheduled", "ready at the next commit", isUpdated));
  expect(await messageOf("scheduled", "ResourcesHealthy", "Unhealthy")).toBe(
    "CronJob/report did not succeed when it ran last: see the log of its last Job",
  );
}, 60_000);

test("a Job with a TTL that an update changes makes way once it has ended, and no other does", async () => {
  await world.create("replaced");
  await world.expectPhase("replaced", "ready");
  const namespace = "env-replaced";
  const annotations = { "argocd.argoproj.io/tracking-id": `${namespace}:batch/Job:${namespace}/any` };
  const made = (name: string, spec: object) => {
    return world.admin.create(jobKind, jobObject({ name, namespace, annotations }, spec) as Draft<WireObject>);
  };
  await Promise.all([made("migrate", TTL), made("seed", TTL), made("others", TTL)]);
  // As its controller writes it, which does not run here.
  const ended = async (name: string) => {
    const status = jobStatus("Complete");
    await world.admin.patch(jobKind, { name, namespace }, { status }, { as: "merge", subresource: "status" });
  };
  await Promise.all([ended("migrate"), ended("others")]);
  world.argocd.decide("replaced", ({ backend }, isRetried) => {
    return (backend as { image: string }).image.endsWith(NEXT) && !isRetried ? "unchanged" : "healthy";
  });
  const backend = { ...backendOnly.backend, commit: NEXT };
  await world.admin.patch(environmentType, { name: "replaced" }, { spec: { backend } }, { as: "merge" });
  const isUpdated = ({ status: found }: EphemeralEnvironment) =>
    found?.phase === "ready" && found.components?.backend?.commit === NEXT;
  await world.expectState("replaced", "ready at the next commit", isUpdated);
  const { items } = await world.admin.list(jobKind, { namespace });
  expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(["others", "seed"]);
}, 60_000);

test("a StatefulSet whose pods are refused is named with the cluster's words", async () => {
  const namespace = await unwell("refused", "progressing");
  const labels = { app: "cache" };
  const template = {
    metadata: { labels },
    spec: { automountServiceAccountToken: false, containers: [{ name: "cache", image: "example.test/cache:1" }] },
  };
  const { metadata } = await world.admin.create(statefulSetKind, {
    metadata: { name: "cache", namespace },
    spec: { serviceName: "cache", selector: { matchLabels: labels }, template },
  });
  // Written as by its controller, which does not run here.
  await world.admin.create(eventKind, {
    metadata: { name: "cache.1", namespace },
    involvedObject: { kind: "StatefulSet", name: "cache", namespace, uid: metadata.uid },
    type: "Warning",
    reason: "FailedCreate",
    message: REFUSED,
    firstTimestamp: SINCE,
    lastTimestamp: SINCE,
  });
  const message = await world.hurried(() => messageOf("refused", "ApplicationSynced", "PodRefused"));
  expect(message).toMatch(/^StatefulSet\/cache: the cluster refuses to create its pods: correct the pod's template/);
  expect(message).toContain(`Last output of StatefulSet/cache:\n${REFUSED}`);
}, 60_000);
