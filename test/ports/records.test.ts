import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { RecordSpec } from "../../crds/environment-record.ts";
import { kubernetesRecords } from "../../operator/adapters/kubernetes-records.ts";
import { recordType } from "../../operator/kinds.ts";
import { createKubeClient, type KubeClient } from "../../operator/kit/kube-client.ts";
import type { Records } from "../../operator/ports/records.ts";
import { controlPlane } from "../support/control-plane.ts";
import { minutesLater } from "../support/environment-fixture.ts";
import { administrator, unique } from "../support/people.ts";
import { installPlatformChart } from "../support/platform-chart.ts";

const namespace = "ephemeral-system";

function record(name: string, minute: number): RecordSpec {
  const at = minutesLater(minute).toISOString();
  return {
    ...{ name, uid: randomUUID(), reason: "deleted" as const, teardownSeconds: 0 },
    ...{ createdAt: minutesLater(0).toISOString(), deletedAt: at, goneAt: at },
  };
}

describe("the records of environments that are no more", () => {
  const name = unique("recorded-");
  let client: KubeClient;
  let records: Records;
  beforeAll(async () => {
    const { kubeConfig } = await installPlatformChart(controlPlane());
    client = createKubeClient({ kubeConfig });
    records = kubernetesRecords({ client, namespace });
  }, 60_000);
  afterEach(async () => {
    for (const { metadata } of await kept()) await client.delete(recordType, metadata);
  });
  afterAll(() => client.close());

  const kept = async () => {
    const labelSelector = `ephemeral-environments.dev/environment=${name}`;
    const { items } = await client.list(recordType, { namespace, labelSelector });
    return [...items].sort((one, other) => (one.spec.deletedAt < other.spec.deletedAt ? -1 : 1));
  };
  const minutes = async () =>
    (await kept()).map(({ spec }) => (Date.parse(spec.deletedAt) - minutesLater(0).getTime()) / 60_000);
  const prune = (atMost: number, minute: number) =>
    records.prune({ atMost, notBefore: minutesLater(minute) }, new AbortController().signal);

  test("are written once: the first stays as it is", async () => {
    const first = record(name, 1);
    await records.keep(first);
    await records.keep({ ...first, reason: "expired" });
    expect((await kept()).map(({ spec }) => spec)).toEqual([first]);
  });

  test("are changed by nobody, administrators included", async () => {
    const one = record(name, 1);
    await records.keep(one);
    const admin = administrator(controlPlane());
    const path = `/apis/ephemeral-environments.dev/v1/namespaces/${namespace}/environmentrecords/${one.uid}`;
    const reply = await admin.patch(path, { spec: { reason: "expired" } });
    expect(reply).toMatchObject({ status: 422, message: expect.stringContaining("a record is never changed") });
  });

  test("go by age and by number, the oldest first", async () => {
    for (const minute of [3, 1, 5, 2, 4]) await records.keep(record(name, minute));
    expect(await prune(100, 0)).toBe(0);
    expect(await prune(100, 2)).toBe(1);
    expect(await minutes()).toEqual([2, 3, 4, 5]);
    expect(await prune(3, 0)).toBe(1);
    expect(await minutes()).toEqual([3, 4, 5]);
  });
});
