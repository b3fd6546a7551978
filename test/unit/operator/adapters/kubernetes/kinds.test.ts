import { expect, test } from "@jest/globals";
import { type RecordSpec, recordManifest } from "../../../../../crds/environment/environment-record.ts";
import { watchedIsolation, watchedRecords } from "../../../../../operator/adapters/kubernetes/kinds.ts";

const metadata = { name: "one", uid: "1", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

test("a record is cached with the input of service levels, costs and insights", () => {
  const spec: RecordSpec = {
    name: "shop",
    uid: "1",
    reason: "deleted",
    teardownSeconds: 1,
    groups: ["shop"],
    createdAt: "2026-01-01T00:00:00Z",
    deletedAt: "2026-01-01T01:00:00Z",
    goneAt: "2026-01-01T01:00:01Z",
    forced: [{ step: "application", left: "it hangs" }],
    configSet: { name: "plain" },
    owner: { subject: "issuer#dev", email: "", name: "" },
  };
  const record = {
    ...recordManifest(spec, "ephemeral-system"),
    metadata: { ...metadata, namespace: "ephemeral-system" },
  };
  expect(watchedRecords("ephemeral-system").trim?.(record).spec).toEqual(spec);
});

test("a quota is cached with the input of costs, and nothing else of its status", () => {
  const quotas = watchedIsolation.find(({ type }) => type.kind === "ResourceQuota");
  const used = {
    "requests.cpu": "1",
    "requests.memory": "1Gi",
    "requests.storage": "0",
    pods: "3",
    "count/services": "2",
  };
  const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard: {} }, status: { hard: used, used } };
  const { pods: _pods, "count/services": _services, ...counted } = used;
  expect(quotas?.trim?.(quota)).toMatchObject({ spec: { hard: {} } });
  expect(quotas?.trim?.(quota).status).toEqual({ used: counted });
  expect(quotas?.trim?.({ ...quota, status: { used: { pods: "3" } } })).not.toHaveProperty("status");
});
