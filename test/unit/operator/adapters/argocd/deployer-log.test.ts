import { describe, expect, test } from "@jest/globals";
import { ClusterUnavailable } from "../../../../../crds/errors.ts";
import { argocdDeployerLog } from "../../../../../operator/adapters/argocd/deployer-log.ts";
import { KubeError } from "../../../../../operator/kit/client/errors.ts";
import type { ObservedObject } from "../../../../../operator/ports/cluster.ts";

const shop = { name: "shop", uid: "u" };
const settings = { namespace: "argocd", clusterServer: "https://kubernetes.default.svc" };

function logOf(status: object | undefined, failure?: Error) {
  const requested: unknown[] = [];
  const read = async (...question: unknown[]) => {
    requested.push(question);
    if (failure !== undefined) throw failure;
    return status === undefined ? undefined : ({ status } as unknown as ObservedObject);
  };
  return { requests: requested, log: argocdDeployerLog({ read }, settings) };
}

const broken = {
  reconciledAt: "2026-06-01T12:05:00Z",
  sync: { status: "OutOfSync" },
  health: { status: "Degraded", lastTransitionTime: "2026-06-01T12:04:00Z" },
  conditions: [
    { type: "SyncError", message: "quota\u001b[31m exceeded", lastTransitionTime: "2026-06-01T12:03:00Z" },
    { type: "OrphanedResourceWarning", message: "one orphan" },
  ],
  operationState: {
    phase: "Failed",
    message: "one or more objects failed to apply",
    startedAt: "2026-06-01T12:01:00Z",
    finishedAt: "2026-06-01T12:02:00Z",
    syncResult: {
      resources: [
        { kind: "Service", name: "backend", status: "Synced", message: "service/backend created" },
        { kind: "Deployment", name: "backend", status: "SyncFailed", message: "forbidden" },
        { kind: "Job", name: "migrate", hookPhase: "Failed", message: "deadline" },
      ],
    },
  },
  resources: [
    { kind: "Deployment", name: "backend", health: { status: "Degraded", message: "no replicas" } },
    { kind: "Service", name: "backend", health: { status: "Healthy" } },
    { kind: "ConfigMap", name: "backend" },
  ],
};

describe("what Argo CD says of an application", () => {
  test("is its operation with every resource, its conditions, and how it is, the oldest first", async () => {
    const entries = await logOf(broken).log.entries(shop);
    expect(entries.map(({ at, level, message }) => `${at.toISOString().slice(11, 19)} ${level} ${message}`)).toEqual([
      "12:02:00 INFO Service 'backend' Synced: service/backend created",
      "12:02:00 ERROR Deployment 'backend' SyncFailed: forbidden",
      "12:02:00 ERROR Job 'migrate' Failed: deadline",
      "12:02:00 ERROR Operation Failed: one or more objects failed to apply",
      "12:03:00 ERROR SyncError: quota exceeded",
      "12:04:00 WARN Deployment 'backend' Degraded: no replicas",
      "12:04:00 WARN Application OutOfSync, Degraded",
      "12:05:00 WARN OrphanedResourceWarning: one orphan",
    ]);
  });

  test("is of a healthy one no more than that", async () => {
    const status = { sync: { status: "Synced" }, health: { status: "Healthy" }, reconciledAt: "2026-06-01T12:00:00Z" };
    expect(await logOf(status).log.entries(shop)).toEqual([
      { at: new Date("2026-06-01T12:00:00Z"), level: "INFO", message: "Application Synced, Healthy" },
    ]);
  });

  test.each([
    { name: "there is none that is the environment's", status: undefined },
    { name: "Argo CD has not seen it", status: {} },
  ])("is nothing while $name", async ({ status }) => {
    expect(await logOf(status).log.entries(shop)).toEqual([]);
  });

  test("is asked of the environment's own application", async () => {
    const { log, requests: requested } = logOf({});
    await log.entries(shop);
    expect(requested).toEqual([
      [shop, expect.objectContaining({ kind: "Application" }), { name: "env-shop", namespace: "argocd" }],
    ]);
  });

  test("is unavailable while the API server is away", async () => {
    const { log } = logOf({}, new KubeError({ status: 0, reason: "Unreachable" }));
    await expect(log.entries(shop)).rejects.toThrow(ClusterUnavailable);
  });
});
